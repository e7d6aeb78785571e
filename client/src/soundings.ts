// The client of a Soundings service: its three interfaces and the audit log.
import { type AuditPosition, type AuditRecord, streamAudit } from './audit-log.ts';
import { type CallOptions, type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { FileArea } from './file-area.ts';
import { OrganizationPushes } from './organization.ts';
import {
  type Asked,
  type Comments,
  type FeedFilter,
  type FeedRow,
  type Group,
  type Kpi,
  type Question,
  type QuestionFilter,
  fetchAskedQuestions,
  fetchComments,
  streamFeed,
  fetchGroups,
  fetchKpis,
  fetchKpiValues,
  fetchResponseRates,
  fetchResults,
  type Result,
  type ResultFilter,
  type WeekValue,
} from './survey-data.ts';
import type { GroupFilter } from './values.ts';

/**
 * Reads results and pushes people and groups. Each method throws a SoundingsError if the service refuses a request or can't be reached.
 * Requests are sent again where that is safe: after 429 and 503 as the service asks, and after lost connections.
 */
export class Soundings {
  readonly #connection: Connection;
  readonly #url: string;
  /** Pushes of people and groups. */
  readonly organization: OrganizationPushes;
  /** Files of people and groups. */
  readonly files: FileArea;

  constructor(options: ConnectionOptions) {
    this.#connection = openConnection(options);
    this.#url = options.url;
    this.organization = new OrganizationPushes(this.#connection);
    this.files = new FileArea(this.#connection);
  }

  /** Returns all active groups, or with `kind: 'segment'` all segments, by ID. */
  async groups({ kind = 'group', ...options }: CallOptions & { kind?: 'group' | 'segment' } = {}): Promise<
    Group[]
  > {
    return fetchGroups(this.#connection, kind, options);
  }

  /** Returns the KPIs that have ever had a value. */
  async kpis(options: CallOptions = {}): Promise<Kpi[]> {
    return fetchKpis(this.#connection, options);
  }

  /** Returns the values of a KPI: those of a period, or the latest of each group. */
  async kpiValues(kpiId: string, filter: GroupFilter, options: CallOptions = {}): Promise<WeekValue[]> {
    return fetchKpiValues(this.#connection, kpiId, filter, options);
  }

  /** Returns response rates: those of a period, or the latest of each group. */
  async responseRates(filter: GroupFilter, options: CallOptions = {}): Promise<WeekValue[]> {
    return fetchResponseRates(this.#connection, filter, options);
  }

  /** Returns the figures of questions by group and week, and the questions. Default: the last five weeks. */
  async results(
    filter: ResultFilter,
    options: CallOptions = {},
  ): Promise<{ questions: Question[]; results: Result[] }> {
    return fetchResults(this.#connection, filter, options);
  }

  /** Returns comments by question, group and week, and the questions. Default: the last five weeks. */
  async comments(
    filter: Omit<ResultFilter, 'individual'>,
    options: CallOptions = {},
  ): Promise<{ questions: Question[]; comments: Comments[] }> {
    return fetchComments(this.#connection, filter, options);
  }

  /** Returns which questions were asked by group and week, and the questions. Default: the last five weeks. */
  async askedQuestions(
    filter: QuestionFilter,
    options: CallOptions = {},
  ): Promise<{ questions: Question[]; asked: Asked[] }> {
    return fetchAskedQuestions(this.#connection, filter, options);
  }

  /**
   * Yields the rows of the feed as they arrive: one for each metric, group and week. Each row comes once and in order, also if connections
   * are lost on the way. If the data has changed by then, it throws a SoundingsError of type `response changed`.
   */
  feed(filter: FeedFilter = {}, options: CallOptions = {}): AsyncGenerator<FeedRow, void> {
    return streamFeed(this.#connection, filter, options);
  }

  /**
   * Yields the entries of the audit log after a position, oldest first, until there are no more. Keep the `position` and `hash` of the last
   * one, and pass them as `after` and `hash` the next time.
   */
  audit(from: AuditPosition = { after: 0 }, options: CallOptions = {}): AsyncGenerator<AuditRecord, void> {
    return streamAudit(this.#connection, from, options);
  }

  /** What is logged or serialized: never the token. */
  toJSON(): object {
    return { url: this.#url };
  }

  /** What console.log of Node shows. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Soundings { url: '${this.#url}' }`;
  }
}
