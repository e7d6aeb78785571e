// Whether a request is a dry run. Imports no schemas, so that the soundings command doesn't load the schema package.
import type { Settings } from './organization.ts';

/** Whether a request only reports the changes. The changes are made only with `validateOnly: false`. */
export const isDryRun = ({ validateOnly }: Settings): boolean => validateOnly !== false;
