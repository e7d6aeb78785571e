// The organization interface: a push that does a dry run first, shows its plan, and applies exactly this plan once it is approved.
import type { CallOptions, Connection } from './connection.ts';
import { type OrganizationList, sendableOf } from './list-parts.ts';
import { PartedPush } from './parted-push.ts';
import type { LimitName, Plan, PushProgress, PushSender, PushSettings, SenderOptions } from './plans.ts';
import { uncertain } from './soundings-error.ts';
import { highestLimits, WholePush } from './whole-push.ts';

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

export type PlanOptions = CallOptions & {
  settings?: PushSettings;
  /** Called while lists are sent in parts. */
  onProgress?: (progress: PushProgress) => void;
};
export type PushOptions = PlanOptions & {
  /** Decides whether a plan is applied. It is called once, if there is something to change and no limit is exceeded. */
  approve: (plan: Plan) => boolean | Promise<boolean>;
};

/**
 * Pushes people and groups. It needs a token with the `organization` scope. Lists that are too large for one request are sent in parts, which
 * makes no difference to their result.
 */
export class OrganizationPushes {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Returns what a push of these lists would do. Changes nothing. Throws a SoundingsError that lists every error of the lists. */
  async plan(list: OrganizationList, options: PlanOptions = {}): Promise<Plan> {
    return this.#sending(list, options, (sender) => sender.plan());
  }

  /**
   * Does a dry run, lets `approve` decide on the plan, and applies it if it is still the same. The lists are read once, so later changes of them
   * have no effect. It is safe to call again after any error: what was applied is found unchanged. If the error has `mayBeApplied`, the response
   * to an earlier attempt was lost, so that attempt may have applied the plan.
   */
  async push(list: OrganizationList, { approve, ...options }: PushOptions): Promise<PushResult> {
    return this.#sending(list, options, async (sender) => {
      const plan = await sender.plan();
      if (plan.changes.length === 0) return { outcome: 'unchanged', plan };
      if (plan.limits.length > 0) return { outcome: 'over limits', plan };
      if ((await approve(plan)) !== true) return { outcome: 'declined', plan };
      const { runId, isUncertain } = await sender.apply(plan.plan);
      if (runId !== undefined) return { outcome: 'applied', plan, runId };
      const current = await sender.plan().catch((error: unknown) => {
        throw isUncertain ? uncertain(error) : error;
      });
      if (!isUncertain) return { outcome: 'plan changed', plan, current };
      // After a lost response, the changes may have been made. Then none are left, unless someone has made others since.
      return current.changes.length === 0
        ? { outcome: 'applied', plan, runId: undefined }
        : { outcome: 'uncertain', plan, current };
    });
  }

  /** Runs `work` with lists that are sent in the way in which they fit. */
  async #sending<T>(
    list: OrganizationList,
    { settings = {}, ...more }: PlanOptions,
    work: (sender: PushSender) => Promise<T>,
  ): Promise<T> {
    const options: SenderOptions = { settings, ...more };
    const isLarge = Object.entries(highestLimits).some(
      ([name, highest]) => (settings[name as LimitName] ?? 0) > highest,
    );
    const sendable = await sendableOf(list, isLarge);
    const sender =
      'whole' in sendable
        ? new WholePush(this.#connection, sendable.whole, options)
        : new PartedPush(this.#connection, sendable.parts, options);
    try {
      return await work(sender);
    } finally {
      await sender.end();
    }
  }
}
