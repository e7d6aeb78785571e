// The console's own interface between browser and service. Each operation is named by its method and its path under /api. It may
// change from one version to the next, because both ends are released together.
import { accessOperations } from './access.ts';
import { askingOperations } from './asking.ts';
import { cardsOperations } from './cards.ts';
import { commentsOperations } from './results/comments.ts';
import { driversOperations } from './results/drivers.ts';
import { focusOperations } from './focus.ts';
import { groupsOperations } from './groups.ts';
import { peopleOperations } from './people.ts';
import { privacyOperations } from './privacy.ts';
import { reportsOperations } from './reports.ts';
import { resultsOperations } from './results/results.ts';
import { runsOperations } from './runs.ts';
import { pullsOperations } from '../pulls/pulls.ts';
import { sandboxOperations } from '../sandbox/sandbox.ts';
import { scimConsoleOperations } from '../scim/directory.ts';
import { segmentsOperations } from './results/segments.ts';
import { sessionOperations } from './session.ts';
import { singleSignOnOperations } from './sign-on/single-sign-on.ts';
import { startOperations } from './start.ts';
import { systemOperations } from './system.ts';
import { webhooksOperations } from '../webhooks/endpoints.ts';

export const consoleOperations = {
  ...sessionOperations,
  ...accessOperations,
  ...singleSignOnOperations,
  ...peopleOperations,
  ...cardsOperations,
  ...groupsOperations,
  ...runsOperations,
  ...sandboxOperations,
  ...askingOperations,
  ...startOperations,
  ...resultsOperations,
  ...commentsOperations,
  ...reportsOperations,
  ...driversOperations,
  ...focusOperations,
  ...scimConsoleOperations,
  ...segmentsOperations,
  ...privacyOperations,
  ...systemOperations,
  ...webhooksOperations,
  ...pullsOperations,
};

export type ConsoleOperations = typeof consoleOperations;
export type ConsoleOperationName = keyof ConsoleOperations;
