// Sends lists as one request.
import type { components } from './api-types.ts';
import type { Call, Connection } from './connection.ts';
import {
  type Applied,
  exceededLimits,
  type ExceededLimit,
  type LimitName,
  type Plan,
  type PushSender,
  type SenderOptions,
} from './plans.ts';
import { jsonBody } from './bodies.ts';
import { isPerhapsProcessed, SoundingsError, uncertain } from './soundings-error.ts';

type Schemas = components['schemas'];

/** The highest limits that the service accepts in one request. */
export const highestLimits: Record<LimitName, number> = {
  maxUsersCreated: 20_000,
  maxUsersUpdated: 20_000,
  maxUsersDeleted: 20_000,
  maxGroupsCreated: 20_000,
  maxGroupsUpdated: 20_000,
  maxGroupsDeleted: 20_000,
};

export class WholePush implements PushSender {
  readonly #connection: Connection;
  readonly #data: string;
  readonly #options: SenderOptions;

  /** `data`: the lists as JSON. */
  constructor(connection: Connection, data: string, options: SenderOptions) {
    this.#connection = connection;
    this.#data = data;
    this.#options = options;
  }

  async plan(): Promise<Plan> {
    const { settings } = this.#options;
    try {
      return planOfReport(await this.#dryRun(settings), []);
    } catch (error) {
      const limits = error instanceof SoundingsError ? exceededLimits(error.errors) : [];
      if (limits.length === 0) throw error;
      // The error has the numbers only. A dry run with the highest limits has the changes, too.
      const report = await this.#dryRun({ ...settings, ...highestLimits }).catch((second: unknown) => {
        const isTooMuch = second instanceof SoundingsError && exceededLimits(second.errors).length > 0;
        throw isTooMuch ? error : second;
      });
      return planOfReport(report, limits);
    }
  }

  async apply(expectedPlan: string): Promise<Applied> {
    let isUncertain = false;
    const settings = { ...this.#options.settings, validateOnly: false, expectedPlan };
    try {
      const { id } = await this.#send(settings, { onUncertain: () => void (isUncertain = true) });
      return { runId: id, isUncertain };
    } catch (error) {
      const types = error instanceof SoundingsError ? error.errors.map(({ type }) => type) : [];
      if (!types.includes('unexpected plan'))
        throw isUncertain || isPerhapsProcessed(error) ? uncertain(error) : error;
      return { isUncertain };
    }
  }

  async end(): Promise<void> {} // the service keeps no part of a request

  #dryRun(settings: Schemas['Settings']): Promise<Schemas['Report']> {
    return this.#send({ ...settings, validateOnly: true }, {});
  }

  async #send(settings: Schemas['Settings'], more: Pick<Call, 'onUncertain'>): Promise<Schemas['Report']> {
    const { body, headers } = await jsonBody(`{"settings":${JSON.stringify(settings)},"data":${this.#data}}`);
    return this.#connection.json({
      method: 'POST',
      path: '/v1/organization/organization',
      headers,
      body: () => body,
      // A dry run changes nothing, and other pushes name their plan.
      repeat: 'safe',
      signal: this.#options.signal,
      ...more,
    });
  }
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
