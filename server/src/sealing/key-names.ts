// The names of the keys of an installation, which say whether a key file belongs to its database. They reveal nothing about the keys.
import { join, resolve } from 'node:path';
import type { Db } from '../db/db.ts';
import { selectChainName } from './answer-keys.sql.ts';
import type { KeyPlace } from './epoch-chain.ts';
import { follows, isSameChain } from './epoch-keys.ts';
import { keyIn, readKeyFile } from './key-file.ts';
import { selectSecretsKey } from './secrets.sql.ts';

/** The chain and epoch of the answer key, and the name of the secrets key. Null before the first start. */
export type KeyNames = { answers: { chain: Buffer; epoch: number } | null; secrets: Buffer | null };

export async function readKeyNames(db: Db): Promise<KeyNames> {
  const [answers, secrets] = [await selectChainName(db), await selectSecretsKey(db)];
  return { answers: answers ?? null, secrets: secrets?.name ?? null };
}

/** Returns the name of an exported key; undefined if the text is something else. */
export const nameOfKey = (text: string): Buffer | undefined => keyIn(text)?.chain;

/** Returns the path of a key file in `directory` that belongs to none of these installations; undefined if there is none. */
export function foreignKeyFile({ place, directory }: KeyPlace, known: KeyNames[]): string | undefined {
  if (place === 'database') return undefined;
  const [answers, secrets] = ['answers', 'secrets'].map((name) => join(resolve(directory), name)) as [
    string,
    string,
  ];
  const [ofAnswers, ofSecrets] = [readKeyFile(answers), readKeyFile(secrets)];
  const isAnswers = known.some(
    (one) =>
      ofAnswers && one.answers && (isSameChain(ofAnswers, one.answers) || follows(ofAnswers, one.answers)),
  );
  const isSecrets = known.some(
    (one) => ofSecrets && one.secrets && isSameChain(ofSecrets, { chain: one.secrets }),
  );
  if (ofAnswers && !isAnswers) return answers;
  return ofSecrets && !isSecrets ? secrets : undefined;
}
