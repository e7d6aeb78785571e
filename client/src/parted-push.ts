// Sends lists in parts: opens a push, sends the parts, and commits them, first as a dry run. Each step can be repeated after a lost connection: a
// part has a number, and the state of the push shows the outcome of a commit.
import type { components } from './api-types.ts';
import type { Call, Connection } from './connection.ts';
import type { ListPart } from './list-parts.ts';
import { type Applied, exceededLimits, type Plan, type PushSender, type SenderOptions } from './plans.ts';
import { jsonBody } from './bodies.ts';
import { waitBefore, waitFor } from './retries.ts';
import { type ErrorPlace, isPerhapsProcessed, SoundingsError, uncertain } from './soundings-error.ts';

type Schemas = components['schemas'];
type Push = Schemas['Push'];
type Run = Schemas['PushRun'];

const address = '/v1/organization/pushes';
/** The longest wait between two requests for the state of a push, in ms. */
const longestPoll = 2_000;
/** How many errors are listed, as in the response to one request. */
const mostErrors = 1_000;

export class PartedPush implements PushSender {
  readonly #connection: Connection;
  readonly #parts: AsyncIterable<ListPart>;
  readonly #options: SenderOptions;
  readonly #warnings: Schemas['Warning'][] = [];
  #id = '';
  #count = 0;

  constructor(connection: Connection, parts: AsyncIterable<ListPart>, options: SenderOptions) {
    this.#connection = connection;
    this.#parts = parts;
    this.#options = options;
  }

  async plan(): Promise<Plan> {
    const { settings, onProgress } = this.#options;
    if (this.#id === '') await this.#sendParts();
    onProgress?.({ step: 'checking' });
    const run = await this.#commit({ ...settings, validateOnly: true });
    const limits = exceededLimits(run.details ?? []);
    if (run.outcome !== 'validated' && limits.length === 0) throw refusal(run);
    const { id, plan, summary } = run;
    if (plan === undefined || plan === '' || summary === undefined) throw refusal(run);
    const warnings = [...this.#warnings, ...(run.warnings ?? [])];
    return { runId: id, plan, summary, changes: await this.#changes(), warnings, limits };
  }

  async apply(expectedPlan: string): Promise<Applied> {
    const { settings, onProgress } = this.#options;
    onProgress?.({ step: 'applying' });
    let isBegun = false;
    const run = await this.#commit(
      { ...settings, validateOnly: false, expectedPlan },
      () => (isBegun = true),
    ).catch((error: unknown) => {
      throw isBegun || isPerhapsProcessed(error) ? uncertain(error) : error;
    });
    if (run.outcome === 'applied') return { runId: run.id, isUncertain: false };
    if (run.details?.some(({ type }) => type === 'unexpected plan')) return { isUncertain: false };
    throw refusal(run);
  }

  /** Deletes the push, so that the next one can be opened. If this fails, the next one replaces it. */
  async end(): Promise<void> {
    if (this.#id === '') return;
    const signal = AbortSignal.timeout(5_000);
    await this.#delete(this.#id, { repeat: 'once', signal }).catch(() => {});
  }

  async #sendParts(): Promise<void> {
    const { onProgress } = this.#options;
    this.#id = await this.#open();
    const sent = { users: 0, groups: 0 };
    const errors: ErrorPlace[] = [];
    let first: SoundingsError | undefined;
    for await (const part of this.#parts) {
      this.#count++;
      const placed = placesAfter(part.list, sent[part.list]);
      await this.#put(part).then(
        ({ warnings }) => void this.#warnings.push(...warnings.map(placed)),
        (error: unknown) => {
          if (!isOfEntries(error)) throw replaced(error);
          first ??= error;
          errors.push(...error.errors.map(placed));
        },
      );
      sent[part.list] += part.count;
      onProgress?.({ step: 'sending', ...sent });
      if (errors.length >= mostErrors) break;
    }
    if (first) throw errorOfLists(first, errors);
  }

  /** Opens a push. It replaces one that was not completed, for example because its client was stopped: no part of that one was applied. */
  async #open(): Promise<string> {
    const { signal } = this.#options;
    for (let attempts = 0; ; attempts++) {
      try {
        const call = { method: 'POST', path: address, repeat: 'safe', signal } as const;
        return (await this.#connection.json<Push>(call)).id;
      } catch (error) {
        const other = openPushIn(error);
        if (other === undefined || attempts >= 10) throw error;
        await this.#settled(other).catch(ignoreMissing);
        await this.#delete(other, { repeat: 'safe', signal }).catch(ignoreMissing);
      }
    }
  }

  async #delete(id: string, call: Pick<Call, 'repeat' | 'signal'>): Promise<void> {
    await this.#connection.text({ method: 'DELETE', path: `${address}/${id}`, ...call });
  }

  async #put({ list, json }: ListPart): Promise<Schemas['PartReceipt']> {
    const { body, headers } = await jsonBody(`{"data":{"${list}":[${json}]}}`);
    return this.#connection.json({
      method: 'PUT',
      path: `${address}/${this.#id}/parts/${this.#count}`,
      headers,
      body: () => body,
      // Its number decides which part it replaces.
      repeat: 'safe',
      signal: this.#options.signal,
    });
  }

  /** Commits the push and returns its run when it has ended. Commits again if the service was stopped meanwhile: then nothing was applied. */
  async #commit(settings: Schemas['CommitSettings'], onUncertain?: () => void): Promise<Run> {
    const { retries, backoffMs } = this.#connection;
    for (let failures = 0; ; failures++) {
      await this.#beginCommit(settings, onUncertain);
      onUncertain?.();
      const { run } = await this.#settled(this.#id).catch((error: unknown) => {
        throw replaced(error);
      });
      if (run && (run.outcome !== 'failed' || failures >= retries)) return run;
      await waitFor(waitBefore(backoffMs, failures, undefined), this.#options.signal);
    }
  }

  async #beginCommit(settings: Schemas['CommitSettings'], onUncertain?: () => void): Promise<void> {
    const body = JSON.stringify({ parts: this.#count, settings });
    const call: Call = {
      method: 'POST',
      path: `${address}/${this.#id}/commit`,
      headers: { 'content-type': 'application/json' },
      body: () => body,
      repeat: 'safe',
      ...(onUncertain && { onUncertain }),
      signal: this.#options.signal,
    };
    await this.#connection.json<Push>(call).catch((error: unknown) => {
      // An earlier attempt has begun it, and its response was lost.
      if (!hasType(error, 'push processing', 'push applied')) throw replaced(error);
    });
  }

  /** Waits until no commit of a push is running. */
  async #settled(id: string): Promise<Push> {
    const { signal } = this.#options;
    for (let polls = 0; ; polls++) {
      const push = await this.#connection.read<Push>(`${address}/${id}`, { signal });
      if (push.state !== 'processing') return push;
      await waitFor(Math.min(longestPoll, 50 * 2 ** polls), signal);
    }
  }

  async #changes(): Promise<Schemas['Change'][]> {
    const path = `${address}/${this.#id}/changes`;
    const changes: Schemas['Change'][] = [];
    for (let after: number | null = 0; after !== null;) {
      const page: Schemas['PushChanges'] = await this.#connection.read(
        path,
        { signal: this.#options.signal },
        { after: String(after) },
      );
      for (const change of page.changes) changes.push(change);
      after = page.next;
    }
    return changes;
  }
}

const hasType = (error: unknown, ...types: string[]): error is SoundingsError =>
  error instanceof SoundingsError && types.includes(error.type);

/** Whether a part was refused because of its entries, and not because of the token or the push. */
const isOfEntries = (error: unknown): error is SoundingsError =>
  error instanceof SoundingsError &&
  error.status === 400 &&
  error.errors.some(({ path }) => path?.startsWith('/data') === true);

/** Returns the ID of the push that the account has open, which the message names. */
const openPushIn = (error: unknown): string | undefined =>
  hasType(error, 'push open')
    ? /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(error.title)?.[0]
    : undefined;

function ignoreMissing(error: unknown): void {
  if (!hasType(error, 'push not found', 'push processing')) throw error;
}

/** Returns a function that replaces the places of a part by those of the whole list, in which `before` entries come first. */
function placesAfter(list: ListPart['list'], before: number) {
  const place = new RegExp(`(?<=^|[ (])/data/${list}/(\\d+)`, 'g');
  const moved = (text: string) =>
    text.replace(place, (_, i: string) => `/data/${list}/${Number(i) + before}`);
  return <T extends { message: string; path?: string }>(found: T): T => ({
    ...found,
    message: moved(found.message),
    ...(found.path !== undefined && { path: moved(found.path) }),
  });
}

/** Returns the error of lists of which one part or several were refused. `first`: the error of the first of them. */
function errorOfLists({ type, status, requestId }: SoundingsError, errors: ErrorPlace[]): SoundingsError {
  return new SoundingsError({ type, title: titleOf(errors), status, errors, requestId });
}

const titleOf = (errors: readonly ErrorPlace[]): string =>
  `Nothing was applied: ${errors.length === 1 ? '' : `the lists have ${errors.length} errors. First error: `}${errors[0]?.message ?? ''}`;

/** Returns the error of a push that is gone, in words that fit someone who has never opened one. Returns any other error unchanged. */
function replaced(error: unknown): unknown {
  if (!hasType(error, 'push not found')) return error;
  const title =
    'Another push of this account has replaced this one, or it was not continued for a day. Push again.';
  return new SoundingsError({ type: error.type, title, status: error.status, requestId: error.requestId });
}

/** Returns the error of a run that was refused or has failed. */
function refusal({ id, message, details = [] }: Run): SoundingsError {
  const [first] = details;
  const title = first
    ? titleOf(details)
    : (message ?? 'The service was stopped while it processed the push. Nothing was applied. Push again.');
  const type = first?.type ?? 'unavailable';
  return new SoundingsError({
    type,
    title,
    errors: details,
    requestId: id,
    ...(first && { status: 400 }),
  });
}
