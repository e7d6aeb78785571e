// What the published package exports. Files of the project import the file that defines something.
export { Soundings } from './soundings.ts';
export { clientErrors, SoundingsError } from './soundings-error.ts';
export type { ErrorPlace } from './soundings-error.ts';
export type { CallOptions, ConnectionOptions } from './connection.ts';
export type { Period, GroupFilter } from './values.ts';
export type {
  Asked,
  Comments,
  FeedFilter,
  FeedRow,
  Figures,
  Group,
  Kpi,
  Question,
  QuestionFilter,
  Result,
  ResultFilter,
  WeekValue,
} from './survey-data.ts';
export type { OrganizationPushes, PlanOptions, PushOptions, PushResult } from './organization.ts';
export type { Entries, OrganizationGroup, OrganizationList, User } from './list-parts.ts';
export type {
  Change,
  ExceededLimit,
  LimitName,
  Plan,
  PushProgress,
  PushSettings,
  Summary,
  Warning,
} from './plans.ts';
export type { FileArea, FileContent, FileReport } from './file-area.ts';
export type { AuditPosition, AuditRecord } from './audit-log.ts';
export type { components, operations, paths } from './api-types.ts';
