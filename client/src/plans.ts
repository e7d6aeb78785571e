// Plans of pushes, and what the two ways to send lists have in common: as one request, and in parts.
import type { components } from './api-types.ts';
import type { CallOptions } from './connection.ts';
import type { ErrorPlace } from './soundings-error.ts';

type Schemas = components['schemas'];
export type Change = Schemas['Change'];
export type Summary = Schemas['Summary'];
export type Warning = Schemas['Warning'];

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

/** How far lists that are sent in parts are: how many users and groups were sent, or what the service does with them. */
export type PushProgress =
  { step: 'sending'; users: number; groups: number } | { step: 'checking' } | { step: 'applying' };

export type SenderOptions = CallOptions & {
  settings: PushSettings;
  onProgress?: ((progress: PushProgress) => void) | undefined;
};

/** `runId`: undefined if nothing was applied because the plan no longer fits. `isUncertain`: then an earlier attempt may have applied it. */
export type Applied = { runId?: string; isUncertain: boolean };

/** Lists that are sent to the service. */
export type PushSender = {
  /** Returns what a push of the lists would do now. */
  plan(): Promise<Plan>;
  /** Applies a plan. A retry is safe although it changes something: the plan no longer fits once it is applied. */
  apply(plan: string): Promise<Applied>;
  /** Removes what was only sent. Never throws. */
  end(): Promise<void>;
};

/** Returns the limits that errors are about, if they are about nothing else. */
export function exceededLimits(errors: readonly ErrorPlace[]): ExceededLimit[] {
  const found = errors.flatMap(({ type, setting, limit, count }) =>
    type === 'limit exceeded' && setting !== undefined && limit !== undefined && count !== undefined
      ? [{ setting: setting as LimitName, limit, count }]
      : [],
  );
  return found.length === errors.length ? found : [];
}
