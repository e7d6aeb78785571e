// Interface C, file upload and listing (§2.3, §4.3). It has no operations yet.
import type { Operation } from './operation.ts';

export const uploadOperations: Operation[] = [];
