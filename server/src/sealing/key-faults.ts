// Errors about keys that are not on this server, or that belong to another installation.
import { Fault } from '../base/errors.ts';

/** Returns the Fault for an answer key that is missing on this server. */
export const missingKey = () =>
  new Fault(
    'unavailable',
    'answer key missing',
    'The answer key is missing on this server, so no one can be asked and no one can answer. If another server has the key, run ' +
      '"soundings keys export" there and "soundings keys import" here. If it is lost, run "soundings keys reset", which closes the ' +
      'open weeks without results. In a container without a persistent volume, set ANSWER_KEYS=database.',
  );

/** Returns the Fault for a key in the database that is implausibly far ahead of the key file. */
export const keyBehind = () =>
  new Fault(
    'unavailable',
    'answer key missing',
    'The answer key in the database is implausibly far ahead of the key file. Restore one of them from a backup of the same time.',
  );

/** Returns the Fault for a key that can't be imported. */
export const wrongKey = (kind: 'invalid' | 'conflict', reason: string): Fault =>
  new Fault(kind, 'wrong key', `${reason} Run "soundings keys export" again on the server that has the key.`);
