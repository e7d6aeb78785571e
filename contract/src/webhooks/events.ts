// The events that webhooks report, and how deliveries are retried. Without schemas, so that the console can load this file.

/**
 * The types of events, each with its meaning. Their order is that of the console and the documents. A type is never given a second meaning.
 * None is about an answer or a person who answers: events of weeks follow from schedules and administrators alone (rules.md P18).
 */
export const eventTypes = {
  'run.pending':
    'A file or the directory (SCIM) would make more changes than the account allows. They are awaiting approval.',
  'run.applied': 'An organization request, a file or a change of the directory (SCIM) was applied.',
  'run.refused':
    'An organization request, a file or a change of the directory (SCIM) was refused because of errors, or was not approved in time. Nothing was applied.',
  'run.rejected':
    'A pending run was rejected, its file was processed again or replaced by a newer one, or the directory took the changes back. Nothing was applied.',
  'file.processed': 'A file was processed, whatever the outcome.',
  'pull.failing':
    'A list could not be fetched by its schedule, and is not tried again before it. Sent once until it works again.',
  'week.opened': 'The first questions of a week were asked.',
  'week.closed': 'A week was closed. Its questions can’t be answered any more.',
  'week.published': 'The results of a closed week can be read, if enough people answered.',
  'token.expiring': 'An API token expires in less than 14 days, and once more in less than 3 days.',
  'administrator.added': 'A person became an administrator.',
} as const;
export type EventType = keyof typeof eventTypes;

/** Sent only to try an endpoint. */
export const testEvent = 'webhook.test';

/**
 * How long after each attempt the next one follows, in seconds: 10 attempts within about three days, as Standard Webhooks recommends. Up
 * to a tenth is added at random.
 */
export const retryDelays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;

/** How many days in which every attempt failed, and how many attempts, it takes to turn an endpoint off. */
export const [maxFailingDays, minFailures] = [5, 10];

/** How long events and their deliveries are kept, in days. */
export const deliveryDays = 30;

/** How many endpoints an account can have, and the longest description of one and the longest address. */
export const [maxEndpoints, maxEndpointDescription, maxEndpointUrl] = [20, 100, 2000];

/** How long the previous secret is used as well after a rotation, in hours. */
export const previousSecretHours = 24;
