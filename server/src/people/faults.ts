// The faults of users and groups that several files report.
import { Fault, faultAtField } from '../base/errors.ts';

/** Returns the Fault for a user who does not exist. */
export const userNotFound = (): Fault =>
  new Fault('not_found', 'person not found', 'This person does not exist. They may have been removed.');

/** Returns the Fault for a group that does not exist, or that the caller may not see. `advice`: a sentence that says what to do. */
export const groupNotFound = (advice = 'It may have been removed.'): Fault =>
  missingGroup('This group', undefined, advice);

/** Returns the Fault for a parent group that does not exist. */
export const parentNotFound = (id: number): Fault =>
  missingGroup(`Parent group ${id}`, '/parentId', 'It may have been removed.');

const missingGroup = (name: string, path: string | undefined, advice: string) =>
  faultAtField('not_found', 'group not found', path, `${name} does not exist. ${advice}`);

/** Returns the Fault for a user or group, or for one of its fields, that only pushes and files can change. */
export const managedFault = (path?: string): Fault =>
  faultAtField(
    'conflict',
    'managed',
    path,
    'Managed by your HR system. Change it there, or take it over first.',
  );
