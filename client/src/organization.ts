// The organization interface: a push that runs dry first, shows its plan, and applies exactly this plan once it is approved.
import type { components } from './api-types.ts';
import type { Call, CallOptions, Connection } from './connection.ts';
import { isPerhapsProcessed, SoundingsError } from './soundings-error.ts';

type Schemas = components['schemas'];
export type User = Schemas['User'];
export type OrganizationGroup = Schemas['OrganizationGroup'];
export type Change = Schemas['Change'];
export type Summary = Schemas['Summary'];
export type Warning = Schemas['Warning'];

/** Complete lists: managed users or groups that are not in their list are removed. Without a list, they stay as they are. */
export type OrganizationList = { users?: User[]; groups?: OrganizationGroup[] };

/** The limits of changes, 200 each by default, and whether languages of existing users are set. */
export type PushSettings = Omit<Schemas['Settings'], 'validateOnly' | 'expectedPlan'>;
export type LimitName = Exclude<keyof PushSettings, 'forceSetLanguage'>;

/** A limit that the plan exceeds: the service applies nothing until you raise it. `count`: how many changes there would be. */
export type ExceededLimit = { setting: LimitName; limit: number; count: number };

/** What a push would do. */
export type Plan = {
  /** The ID of the dry run, which the console lists under Runs. */
  runId: string;
  /** Identifies exactly these changes. A push applies them and no others. */
  plan: string;
  summary: Summary;
  changes: Change[];
  warnings: Warning[];
  /** If there are any, a push with these settings applies nothing. */
  limits: ExceededLimit[];
};

export type PushResult =
  | {
      outcome: 'applied';
      plan: Plan;
      /**
       * The ID of the run that has applied it. Undefined if the connection was lost before the response: then another dry run has found
       * that nothing is left to change.
       */
      runId: string | undefined;
    }
  /** The lists match already. `approve` was not called. */
  | { outcome: 'unchanged'; plan: Plan }
  | { outcome: 'declined'; plan: Plan }
  /** The plan exceeds limits, so it was not applied. `approve` was not called. */
  | { outcome: 'over limits'; plan: Plan }
  /** The data has changed since the plan was approved, so it was not applied. `current`: what a push would do now. */
  | { outcome: 'plan changed'; plan: Plan; current: Plan }
  /**
   * The response was lost, and then the service refused the plan, because it had been applied or the data had changed before. So it may have been
   * applied. `current`: what a push would do now.
   */
  | { outcome: 'uncertain'; plan: Plan; current: Plan };

export type PlanOptions = CallOptions & { settings?: PushSettings };
export type PushOptions = PlanOptions & {
  /** Decides whether a plan is applied. It is called once, if there is something to change and no limit is exceeded. */
  approve: (plan: Plan) => boolean | Promise<boolean>;
};

/** Bodies from this size on are sent compressed. */
const compressedBytes = 32_768;
/** The highest limits that the service accepts. */
const highest: Record<LimitName, number> = {
  maxUsersCreated: 20_000,
  maxUsersUpdated: 20_000,
  maxUsersDeleted: 20_000,
  maxGroupsCreated: 20_000,
  maxGroupsUpdated: 20_000,
  maxGroupsDeleted: 20_000,
};

/** Pushes people and groups. It needs a token with the `organization` scope. */
export class OrganizationPushes {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Returns what a push of these lists would do. Changes nothing. Throws a SoundingsError that lists every error of the lists. */
  async plan(list: OrganizationList, { settings = {}, signal }: PlanOptions = {}): Promise<Plan> {
    return this.#planOf(JSON.stringify(list), settings, signal);
  }

  /**
   * Runs dry, lets `approve` decide on the plan, and applies it if it is still the same. The lists are read once, so later changes of them
   * have no effect. It is safe to call again after any error: what was applied is found unchanged. If the error has `mayBeApplied`, the response
   * to an earlier attempt was lost, so that attempt may have applied the plan.
   */
  async push(list: OrganizationList, { approve, settings = {}, signal }: PushOptions): Promise<PushResult> {
    const data = JSON.stringify(list);
    const plan = await this.#planOf(data, settings, signal);
    if (plan.changes.length === 0) return { outcome: 'unchanged', plan };
    if (plan.limits.length > 0) return { outcome: 'over limits', plan };
    if ((await approve(plan)) !== true) return { outcome: 'declined', plan };
    const applied = await this.#applied(
      data,
      { ...settings, validateOnly: false, expectedPlan: plan.plan },
      signal,
    );
    if (applied.report) return { outcome: 'applied', plan, runId: applied.report.id };
    const current = await this.#planOf(data, settings, signal).catch((error: unknown) => {
      throw applied.isUncertain ? uncertain(error) : error;
    });
    if (!applied.isUncertain) return { outcome: 'plan changed', plan, current };
    // After a lost response, the changes may have been made. Then none are left, unless someone has made others since.
    return current.changes.length === 0
      ? { outcome: 'applied', plan, runId: undefined }
      : { outcome: 'uncertain', plan, current };
  }

  async #planOf(data: string, settings: PushSettings, signal: AbortSignal | undefined): Promise<Plan> {
    try {
      return planOfReport(await this.#dryRun(data, settings, signal), []);
    } catch (error) {
      const limits = exceededLimits(error);
      if (limits.length === 0) throw error;
      // The error has the numbers only. A dry run with the highest limits has the changes, too.
      const report = await this.#dryRun(data, { ...settings, ...highest }, signal).catch(
        (second: unknown) => {
          throw exceededLimits(second).length > 0 ? error : second;
        },
      );
      return planOfReport(report, limits);
    }
  }

  #dryRun(data: string, settings: PushSettings, signal: AbortSignal | undefined): Promise<Schemas['Report']> {
    return this.#send(data, { ...settings, validateOnly: true }, { signal });
  }

  /**
   * Applies an approved plan. Returns no report if the service would make other changes now, and whether an earlier attempt may have made
   * these. A repeat is safe although it changes something: it names its plan, which no longer fits once it is applied.
   */
  async #applied(
    data: string,
    settings: Schemas['Settings'],
    signal: AbortSignal | undefined,
  ): Promise<{ report?: Schemas['Report']; isUncertain: boolean }> {
    let isUncertain = false;
    const onUncertain = () => void (isUncertain = true);
    try {
      return { report: await this.#send(data, settings, { signal, onUncertain }), isUncertain };
    } catch (error) {
      const types = error instanceof SoundingsError ? error.errors.map(({ type }) => type) : [];
      if (!types.includes('unexpected plan'))
        throw isUncertain || isPerhapsProcessed(error) ? uncertain(error) : error;
      return { isUncertain };
    }
  }

  async #send(
    data: string,
    settings: Schemas['Settings'],
    more: Pick<Call, 'signal' | 'onUncertain'>,
  ): Promise<Schemas['Report']> {
    const json = new TextEncoder().encode(`{"settings":${JSON.stringify(settings)},"data":${data}}`);
    const isLarge = json.length >= compressedBytes;
    const body = isLarge ? await compressed(json) : json;
    return this.#connection.json({
      method: 'POST',
      path: '/v1/organization/organization',
      headers: { 'content-type': 'application/json', ...(isLarge && { 'content-encoding': 'gzip' }) },
      body: () => body,
      // A dry run changes nothing, and other pushes name their plan.
      repeat: 'safe',
      ...more,
    });
  }
}

/** Returns an error of a push whose plan may have been applied nevertheless. The reason of a caller's signal stays as it is. */
function uncertain(error: unknown): unknown {
  if (error instanceof SoundingsError) error.mayBeApplied = true;
  return error;
}

/** Returns the plan in a report. Without its `plan`, a push could not say what may be applied, and would apply anything. */
function planOfReport(
  { id, plan, summary, changes, warnings }: Schemas['Report'],
  limits: ExceededLimit[],
): Plan {
  if (typeof plan !== 'string' || plan === '')
    throw new SoundingsError({
      type: 'unexpected response',
      title: 'The report of the dry run has no plan. Check the address and the version of the service.',
    });
  return { runId: id, plan, summary, changes, warnings, limits };
}

/** Returns the limits that a request exceeds, if that is all that is wrong with it. */
function exceededLimits(error: unknown): ExceededLimit[] {
  if (!(error instanceof SoundingsError)) return [];
  const found = error.errors.flatMap(({ type, setting, limit, count }) =>
    type === 'limit exceeded' && setting !== undefined && limit !== undefined && count !== undefined
      ? [{ setting: setting as LimitName, limit, count }]
      : [],
  );
  return found.length === error.errors.length ? found : [];
}

async function compressed(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}
