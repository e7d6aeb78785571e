// What pulls consist of, and their limits. Without schemas, so that the console can load this file.

/** The kinds of systems that lists are fetched from. They only decide which fields the console shows. */
export const pullSources = ['workday', 'bamboohr', 'personio', 'graph', 'other'] as const;
export type PullSource = (typeof pullSources)[number];

/** How the service authenticates. `key`: a key as the user name of basic authentication. `oauth`: client credentials (RFC 6749 §4.4). */
export const accessKinds = ['none', 'header', 'basic', 'key', 'oauth'] as const;
export type AccessKind = (typeof accessKinds)[number];

/** How an OAuth client sends its secret: in the Authorization header, or in the body (RFC 6749 §2.3.1). */
export const clientMethods = ['post', 'basic'] as const;

export const repeats = ['hourly', 'daily', 'weekly'] as const;
export type Repeat = (typeof repeats)[number];

/** Why a list was fetched: by the schedule, or because an administrator asked for it. */
export type FetchReason = 'schedule' | 'fetch' | 'dryRun';

/** `stored`: the list was stored as a file, which is processed. `unchanged`: it is still the list of the last file. */
export type FetchOutcome = 'stored' | 'unchanged' | 'failed';

/** Why fetching a list failed, each with its meaning. */
export const pullErrors = {
  address: 'The address leads into a private network that the installation does not allow.',
  unreachable: 'No connection: the host is unknown, refuses connections or has an invalid certificate.',
  timeout: 'The other system took too long.',
  refused: 'The other system refused the credentials (HTTP 401 or 403).',
  status: 'The other system responded with another status than 200.',
  redirect:
    'The other system sent the request to another address, perhaps because the credentials are not valid.',
  web: 'The response is a web page, perhaps a sign-in page.',
  format: 'The response is neither JSON nor a file that can be read.',
  json: 'The response is not valid JSON, or has values that can’t be read.',
  list: 'The response has no list at this place.',
  empty: 'The list is empty.',
  large: 'The list is larger than allowed.',
  next: 'The next page of the list is on another host, or the pages never end.',
  incomplete:
    'The list is incomplete: it has fewer entries than the other system says, or pages that can’t be read.',
  token: 'The token endpoint returned no token.',
  secret: 'The stored secret can’t be read.',
  storage: 'The list could not be stored as a file.',
  overlap: 'Another pull of people is on. Each would remove the people of the other.',
  internal: 'An unexpected error in Soundings.',
} as const;
export type PullError = keyof typeof pullErrors;

/** How many pulls an account can have. */
export const maxPulls = 20;

/** The longest name, address, other text and secret, in characters. A client assertion or a key can be long. */
export const [maxPullName, maxPullUrl, maxAccessText, maxSecret] = [100, 2000, 500, 8000];

/** How many requests one list can take, and the largest response and all responses together, in bytes. */
export const [maxPullRequests, maxPullResponse, maxPullBytes] = [1_000, 32 * 2 ** 20, 96 * 2 ** 20];

/** How long attempts are kept, in days. */
export const fetchDays = 90;
