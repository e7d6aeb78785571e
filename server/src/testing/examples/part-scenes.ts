// Pushes in parts, and the errors that only they have.
import { readFileSync } from 'node:fs';
import { partedPush, type Push } from '@soundings/contract/people/push-parts.ts';
import { until } from '../until.ts';
import type { ErrorScene } from './error-scenes.ts';
import { recordError } from './record-errors.ts';
import { pathOf, type Recorder, sendTo } from './recorder.ts';

/** Sends the example organization in two parts, first as a dry run. */
export async function recordParts(recorder: Recorder, address: string, token: string): Promise<void> {
  const path = new URL('../../../../docs/examples/organization.json', import.meta.url);
  const { data } = JSON.parse(readFileSync(path, 'utf8')) as { data: Record<'users' | 'groups', object[]> };
  const title = 'A push in two parts, as a dry run';
  const record = (...[operation, sent]: [Parameters<Recorder['record']>[0], object?]) =>
    recorder.record(operation, title, { token, ...sent });
  const refuse = (scene: ErrorScene) => recordError(recorder, address, token, scene);
  const { body: opened } = await record(partedPush.open);
  const params = { pushId: (opened as Push).id };
  const parts = [{ groups: data.groups }, { users: data.users }];
  for (const [i, part] of parts.entries())
    await record(partedPush.put, { params: { ...params, part: String(i + 1) }, body: { data: part } });
  await refuse({ type: 'push open', at: partedPush.open });
  const absent = { pushId: '019a95c2-0000-7000-8000-000000000000' };
  await refuse({ type: 'push not found', at: partedPush.read, params: absent });
  const at = partedPush.commit;
  await refuse({ type: 'parts missing', at, params, sent: { body: { parts: 3 } } });
  const settings = { maxUsersCreated: 50_000 };
  await refuse({ type: 'limit too high', at, params, sent: { body: { parts: 2, settings } } });
  const ended = () =>
    until(async () => {
      const { body: push } = await sendTo(address, 'GET', pathOf(partedPush.read, params), { token });
      return (push as Push).state !== 'processing';
    });
  await record(at, { params, body: { parts: 2 } });
  await ended();
  await record(partedPush.read, { params });
  await record(partedPush.changes, { params });
  const body = { parts: 2, settings: { validateOnly: false } };
  await sendTo(address, 'POST', pathOf(at, params), { token, body });
  await ended();
  await refuse({ type: 'push applied', at, params, sent: { body } });
  await record(partedPush.remove, { params });
}
