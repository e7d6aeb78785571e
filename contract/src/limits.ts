// The limits that customers see. They are part of the interfaces, so they can't be configured.

/** The default maximum number of changes of each kind in an organization request. */
export const maxChangesDefault = 200;

/** The highest maximum that the settings of an organization request can allow for each kind of change. */
export const maxChangesCeiling = 20_000;

/** How many errors a response lists. If there are more, it says how many. */
export const maxFaultsListed = 1_000;

/** The largest body of an organization request, in bytes (64 MiB). */
export const maxOrganizationBodyBytes = 64 * 1024 * 1024;

/**
 * Limits of a push in parts. A part: its size in bytes (16 MiB), how many users and groups it can list, and its highest number. All parts: how
 * many users and groups they can list. After how many hours without a request it is deleted.
 */
export const [maxPartBytes, maxPartEntries, maxPartNumber] = [16 * 1024 * 1024, 20_000, 2_000];
export const [maxUsersOfPush, maxGroupsOfPush] = [1_000_000, 100_000];
export const abandonedPushHours = 24;

/**
 * How large all parts of a push can be in bytes, if a commit can make `changes` changes of each kind: as large as one request unless the operator
 * allows more than the usual number, then 2 KiB for each.
 */
export const maxBytesOfPush = (changes: number): number => Math.max(maxOrganizationBodyBytes, changes * 2048);

/** The largest body of a SCIM request, in bytes (1 MiB), how many operations a bulk request can have, and how many resources a page. */
export const maxScimBodyBytes = 1024 * 1024;
export const maxScimOperations = 1_000;
export const maxScimResults = 500;

/** The longest SCIM filter, in characters, how deep it can be nested, and how many comparisons it can have. */
export const [maxScimFilterLength, maxScimFilterDepth, maxScimComparisons] = [4_000, 20, 100];

/** The largest file that can be uploaded, in bytes (10 MiB). */
export const maxUploadBytes = 10 * 1024 * 1024;

/** How many files an account can store, and their total size in bytes (4 GiB), so that no account can fill the disk. Uploads at the same time can exceed them a little. */
export const maxStoredFiles = 5_000;
export const maxStoredBytes = 4 * 1024 * 1024 * 1024;

/** The longest externalId, in characters (code points). */
export const maxExternalIdLength = 255;

/** How deep a JSON body can be nested. The outermost value is at depth 1. */
export const maxJsonDepth = 32;

/** How many values (texts, numbers, objects, …) a JSON body can contain. 100,000 users are about two million values. */
export const maxJsonValues = 5_000_000;

/** How many keys an object in a JSON body can have. One object with millions of keys takes far longer to parse than millions of objects. */
export const maxJsonKeys = 10_000;

/** The longest name of a user, group, attribute or question, in characters. */
export const maxNameLength = 500;

/** The longest description, in characters. */
export const maxDescriptionLength = 10_000;

/** The longest email address, in octets (RFC 5321 §4.5.3.1.3, without the angle brackets). */
export const maxEmailLength = 254;

/** How many weeks the data interface returns if the request has no date range: the current week and those before it. */
export const defaultWindowWeeks = 5;

/** The lowest threshold that an account can choose: how many people must answer before a figure is shown. */
export const minimumThreshold = 3;

/** The threshold of an account that has not chosen one. */
export const defaultThreshold = 5;

/** The minimum length of a password, in characters. */
export const minPasswordLength = 12;

/** How many levels the group tree can have. This limits the cost of listing all subgroups of each group. */
export const maxTreeDepth = 100;

/** The longest comment, and the longest text of a question, in characters. */
export const maxCommentLength = 10_000;

/** The longest value of an attribute, in characters. */
export const maxAttributeLength = 1_000;

/** How many breakdowns an account can have open, how many segments a breakdown gets per opening, and how many limits of bands it
 * can have. */
export const maxBreakdowns = 8;
export const maxSegmentsOfBreakdown = 60;
export const maxSegmentBands = 20;

/** How many allowed values an attribute can have. */
export const maxAllowedValues = 1_000;

/** Whether removing this many people needs an extra confirmation: more than 20, or more than one in twenty. */
export const isLargeRemoval = (removed: number, people: number): boolean =>
  removed > 20 || removed * 20 > people;

/** The longest texts of a focus, in characters: what the group does, who is responsible, and a note of a check-in. */
export const [maxFocusAction, maxFocusResponsible, maxFocusNote] = [300, 100, 500];

/** How many open focuses a group can have, how many in its history, and how many entries the history of one can have. */
export const [maxOpenFocuses, maxFocusesOfGroup, maxFocusEvents] = [2, 200, 200];

/** The hours of working days in which messages are sent, unless a schedule allows any hour: from 08:00 to 19:59. */
export const workingHours = { first: 8, last: 19 };

/** How long runs are kept, in days. */
export const runRetentionDays = 400;

/** How many changes of runs that applied nothing are stored in an account, besides those of the last one. The oldest are deleted. */
export const mostUnappliedChanges = 100_000;

/** The maximum number of rows and columns of a sheet, and of characters in a cell. */
export const maxSheetRows = 50_000;
export const maxSheetColumns = 500;
export const maxCellLength = 32_767;

/** The minimum number of groups that key drivers are computed from. */
export const minimumDriverGroups = 20;

/**
 * Limits of sandboxes. `perHour`: how often an administrator can create or reset one within an hour. `days`: without a request for so long, a
 * sandbox is deleted. `bytes`: above this size of its data, its token only works again after a reset.
 */
export const sandboxLimits = { perHour: 10, days: 14, bytes: 200_000_000 };

/** The settings that limit how many changes a request may make. */
export const limitNames = [
  'maxUsersCreated',
  'maxUsersUpdated',
  'maxUsersDeleted',
  'maxGroupsCreated',
  'maxGroupsUpdated',
  'maxGroupsDeleted',
] as const;
export type LimitName = (typeof limitNames)[number];

/** Returns settings with the same limit for every kind of change. */
export const everyLimit = (limit: number): Record<LimitName, number> =>
  Object.fromEntries(limitNames.map((name) => [name, limit])) as Record<LimitName, number>;

/** Up to this number of groups, the console loads the tree and the heat map as a whole, and otherwise only the parts that are shown. */
export const maxWholeTree = 2_500;

/** How many subgroups of a group the console lists in a tree that it loads in parts, and how many groups a search finds there. */
export const maxSubgroupsListed = 1_000;
export const maxGroupsFound = 200;

/** How many groups a list to choose from shows. */
export const maxGroupOptions = 80;
