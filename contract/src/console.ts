// The console's own interface between browser and service. Each operation is named by its method and its path under /api. It may
// change from one version to the next, because both ends are released together.
import { accessOperations } from './console.access.ts';
import { askingOperations } from './console.asking.ts';
import { groupsOperations } from './console.groups.ts';
import { peopleOperations } from './console.people.ts';
import { privacyOperations } from './console.privacy.ts';
import { resultsOperations } from './console.results.ts';
import { runsOperations } from './console.runs.ts';
import { sessionOperations } from './console.session.ts';
import { systemOperations } from './console.system.ts';

export const consoleOperations = {
  ...sessionOperations,
  ...accessOperations,
  ...peopleOperations,
  ...groupsOperations,
  ...runsOperations,
  ...askingOperations,
  ...resultsOperations,
  ...privacyOperations,
  ...systemOperations,
};

export type ConsoleOperations = typeof consoleOperations;
export type ConsoleOperationName = keyof ConsoleOperations;
