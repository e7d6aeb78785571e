// What is traced. A trace has the time of everything in it, so traces of answering, of invitations and of what counts or reads answers
// would reveal how many people have answered at any time, and together with other logs who they are (rules.md P18). What is not listed here is
// not traced, so a new route or job is not traced until someone has thought about it.

/**
 * Returns whether requests to a route are traced: only the API of the console and the interfaces, apart from SCIM, of which each request is
 * about one person. `route` is its pattern.
 */
export const isTracedRoute = (route: string | undefined): boolean => /^\/(v1|api)\//.test(route ?? '');

/** The jobs that are traced. They never depend on who has answered. */
export const tracedJobs: ReadonlySet<string> = new Set([
  'notify about expiring tokens',
  'record expiring tokens',
  'send due webhooks',
  'send webhooks',
  'delete old webhooks',
  'fetch pulls',
  'fetch pulls now',
  'delete old fetches',
  'mail pull notice',
  'chain audit entries',
  'end lost runs',
  'delete old runs',
  'delete changes of dry runs',
  'delete abandoned pushes',
  'delete expired sessions',
  'delete previous addresses',
  'delete failed sign-ins',
  'delete ended visits to sign-in providers',
  'delete old files',
  'translate library',
  'resume files',
  'process files',
  'send digests',
  'compute statistics',
  'build fragments',
  'mail sign-in link',
  'mail sign-in invitation',
  'mail pending administrators',
  'mail file report',
  'mail account notice',
  'mail webhook notice',
]);

/** The threads whose statements are traced. Others are a single span: they compute, or they read or write answers. */
export const tracedThreads: ReadonlySet<string> = new Set(['files', 'pushes']);

/**
 * The jobs that are never traced: what opens, shows or closes weeks, what sends invitations and reminders or reads their bounces, what
 * counts answers, what applies directories, which write about one person at a time, and what creates
 * sandboxes, whose simulated weeks open and close like others.
 */
export const untracedJobs: ReadonlySet<string> = new Set([
  'open rounds',
  'store links of cards',
  'send messages',
  'read bounces',
  'show live weeks',
  'count participation',
  'close weeks',
  'delete left data of closed weeks',
  'close week',
  'mail lost week',
  'mail link notice',
  'apply directories',
  'tend sandboxes',
]);
