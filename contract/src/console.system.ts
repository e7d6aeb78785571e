// The console: what is wrong with the installation itself, for those who can have it put right.
import { operation } from './console.operation.ts';

/** `forgottenProxy`: a proxy sends requests, and the settings don't name it. */
export type SystemWarning = { code: 'forgottenProxy'; address: string };

export const systemOperations = {
  /** Read from the process that answers. */
  'GET /warnings': operation<SystemWarning[]>()({ least: 'Administrator' }),
};
