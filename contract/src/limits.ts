// The numbers that customers see. They are part of the interfaces, so no configuration changes them.

/** How many changes of a kind an organization request may make when its settings do not say. */
export const maxChangesDefault = 200;

/** The most changes of a kind that the settings of an organization request may allow. */
export const maxChangesCeiling = 20_000;

/** How many faults an error lists; beyond it, it says how many more there are. */
export const maxFaultsListed = 1_000;

/** The largest body of an organization request, in bytes (64 MiB). */
export const maxOrganizationBodyBytes = 64 * 1024 * 1024;

/** The largest file that can be uploaded, in bytes (10 MiB). */
export const maxUploadBytes = 10 * 1024 * 1024;

/** How many files an account may have stored, and of how many bytes in all (4 GiB): nobody can fill the disk. */
export const maxStoredFiles = 5_000;
export const maxStoredBytes = 4 * 1024 * 1024 * 1024;

/** The longest externalId, in characters (code points). */
export const maxExternalIdLength = 255;

/** How deep arrays and objects of a JSON body may be nested; the outermost is at depth 1. */
export const maxJsonDepth = 32;

/** How many values (texts, numbers, objects, …) a JSON body may have: 100,000 users have about two million. */
export const maxJsonValues = 5_000_000;

/** How many keys an object of a JSON body may have: an object of millions takes far longer to read than millions of objects. */
export const maxJsonKeys = 10_000;

/** The longest name of a user, group, attribute or question, in characters. */
export const maxNameLength = 500;

/** The longest description, in characters. */
export const maxDescriptionLength = 10_000;

/** The longest e-mail address, in octets (RFC 5321 §4.5.3.1.3, without the angle brackets). */
export const maxEmailLength = 254;

/** How many weeks the data interface answers when none are asked for: the current one and those before it. */
export const defaultWindowWeeks = 5;

/** The lowest threshold that an account can choose: how many must have answered before a figure is shown. */
export const minimumThreshold = 3;

/** The threshold of an account that has not chosen one. */
export const defaultThreshold = 5;

/** The fewest characters of a password. */
export const minPasswordLength = 12;

/** How many levels a tree of groups may have. It bounds what listing all groups beneath each group can cost. */
export const maxTreeDepth = 100;

/** The longest comment, and the longest text of a question, in characters. */
export const maxCommentLength = 10_000;

/** The longest value of an attribute, in characters. */
export const maxAttributeLength = 1_000;

/** How many values an attribute may allow. */
export const maxAllowedValues = 1_000;

/** Whether removing so many of an account's people takes more than a click: more than 20, or more than one in twenty. */
export const isLargeRemoval = (removed: number, people: number): boolean =>
  removed > 20 || removed * 20 > people;

/** How long runs are kept, in days. */
export const runRetentionDays = 400;

/** The most rows, columns and characters in a cell of a sheet of a file. */
export const maxSheetRows = 50_000;
export const maxSheetColumns = 500;
export const maxCellLength = 32_767;
