// An HR system that sends its list of people: a push to Soundings, which compares it with what it has, and Directus, whose client has to
// read and compare what is there before it sends what differs.
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import { attribute, type Company, makeCompany, renamed } from '../company.ts';
import { inParallel } from '../measuring/directory.ts';
import { median, time, timed } from '../measuring/measure.ts';
import type { Say } from '../measuring/plans.ts';
import type { Service } from '../measuring/service.ts';
import { push, pushBodyOf } from '../push.ts';
import type { Comparison } from './comparison.ts';
import { createCollection, type Directus, startDirectus } from './directus.ts';
import type { Packages } from './packages.ts';
import { type Use, watchUse } from './processes.ts';

/** `batch`: how many items a request to Directus has. `atOnce`: requests to it at the same time. `reads`: how often the groups are read. */
type Plan = { users: number; groups: number; batch: number; atOnce: number; reads: number };

/** In milliseconds and bytes. */
type Measured = Use & {
  first: number;
  unchanged: number;
  /** Only of a push: the same bytes as before. */
  again?: number;
  changed: number;
  groups: number;
};

export async function compareLists(
  service: Service,
  packages: Packages,
  plan: Plan,
  say: Say,
): Promise<Comparison> {
  const company = makeCompany({ users: plan.users, groups: plan.groups });
  const companies = { company, changed: renamed(company, plan.users / 100, 'changed') };
  const ours = await measurePushes(service, companies, plan);
  say(`Soundings: first import ${time(ours.first)}`);
  const theirs: Measured[] = [];
  for (const isLogged of [true, false]) {
    const database = isLogged ? 'directus_logged' : 'directus_unlogged';
    const directus = await startDirectus(service, packages, database);
    try {
      await createCollections(directus, isLogged);
      theirs.push(await measureItems(directus, companies, plan, say));
    } finally {
      await directus.stop();
    }
  }
  const row = (what: string, name: keyof Measured, unit: 'time' | 'memory' = 'time') => ({
    what,
    unit,
    soundings: ours[name],
    peers: theirs.map((one) => one[name]),
  });
  const size = `${plan.users.toLocaleString('en')} people, ${plan.groups.toLocaleString('en')} groups`;
  return {
    title: 'An organization as a list',
    peers: ['Directus', 'Directus without its log'],
    rows: [
      row(`${size}, first import`, 'first'),
      row('– unchanged', 'unchanged'),
      row('– the same bytes again', 'again'),
      row('– 1% changed', 'changed'),
      row('Reading the list of all groups', 'groups'),
      row('Processor time of the process for all this', 'processor'),
      row('Memory of the process, peak', 'memory', 'memory'),
    ],
  };
}

type Companies = { company: Company; changed: Company };

async function measurePushes(
  service: Service,
  { company, changed }: Companies,
  { reads }: Plan,
): Promise<Measured> {
  const account = await service.account(attribute);
  const endUse = watchUse(service);
  const [first] = await timed(() =>
    push(service, account, pushBodyOf(company), { created: company.users.length }),
  );
  // A space makes other bytes. A push of the same bytes as before is answered without reading the list.
  const unchangedBody = Buffer.concat([Buffer.from(' '), pushBodyOf(company)]);
  const nothing = { created: 0, updated: 0, deleted: 0 };
  const [unchanged] = await timed(() => push(service, account, unchangedBody, nothing));
  const [again] = await timed(() => push(service, account, unchangedBody, nothing));
  const [one] = await timed(() =>
    push(service, account, pushBodyOf(changed), { updated: company.users.length / 100 }),
  );
  const groups = await timeOfGroups(`${service.address}/v1/groups`, account.token, company, reads);
  return { first, unchanged, again, changed: one, groups, ...endUse() };
}

/** Returns the median time of reading all groups. Throws if not all are read. */
async function timeOfGroups(url: string, token: string, company: Company, reads: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < reads; i++) {
    const [ms, body] = await timed(async () => {
      const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      return (await response.json()) as unknown[] | { data: unknown[] };
    });
    const read = (Array.isArray(body) ? body : body.data).length;
    if (read !== company.groups.length) throw new Error(`${url} returned ${read} groups.`);
    times.push(ms);
  }
  return median(times);
}

async function measureItems(
  directus: Directus,
  { company, changed }: Companies,
  plan: Plan,
  say: Say,
): Promise<Measured> {
  const endUse = watchUse(directus);
  const imported = async (list: Company, expected: number) => {
    const [ms, sent] = await timed(() => synchronize(directus, list, plan));
    if (sent !== expected) throw new Error(`${sent} items were sent to Directus instead of ${expected}.`);
    say(`Directus: ${sent} items, ${time(ms)}`);
    return ms;
  };
  const all = Object.values(itemsOf(company)).flat().length;
  const first = await imported(company, all);
  const unchanged = await imported(company, 0);
  const one = await imported(changed, company.users.length / 100);
  const groups = await timeOfGroups(
    `${directus.address}/items/groups?limit=-1`,
    directus.token,
    company,
    plan.reads,
  );
  return { first, unchanged, changed: one, groups, ...endUse() };
}

/** `isLogged`: whether Directus records each change, which it does unless you turn it off. */
async function createCollections(directus: Directus, isLogged: boolean): Promise<void> {
  const text = (name: string, of?: string) => ({
    name,
    type: 'string' as const,
    ...(of !== undefined && { of }),
  });
  const key = { ...text('id'), isKey: true as const };
  const fields = ['first_name', 'last_name', 'email', 'phone', 'language', 'workplace', 'role'];
  const ofMembership = [key, text('person', 'people'), text('group', 'groups'), text('kind')];
  await createCollection(directus, 'groups', [key, text('name'), text('parent', 'groups')], isLogged);
  await createCollection(directus, 'people', [key, ...fields.map((name) => text(name))], isLogged);
  await createCollection(directus, 'memberships', ofMembership, isLogged);
}

type Item = { id: string } & Record<string, string | null>;
const collections = ['groups', 'people', 'memberships'] as const;
type Items = Record<(typeof collections)[number], Item[]>;

/** Returns the items of a company. The key of a membership consists of all its fields. */
function itemsOf({ groups, users }: Company): Items {
  return {
    groups: groups.map(({ externalId, name, parent }) => ({ id: externalId, name, parent: parent ?? null })),
    people: users.map(
      ({ externalId, firstName, lastName, email, phone, language, externalProperties, accessInfo }) => ({
        id: externalId,
        first_name: firstName,
        last_name: lastName,
        email: email ?? null,
        phone: phone ?? null,
        language: language ?? null,
        workplace: externalProperties?.[attribute.name] ?? null,
        role: accessInfo?.role ?? null,
      }),
    ),
    memberships: users.flatMap(({ externalId: person, accessInfo = {} }) =>
      membershipKinds.flatMap((kind) =>
        (accessInfo[kind] ?? []).map((group) => ({ id: `${person} ${kind} ${group}`, person, group, kind })),
      ),
    ),
  };
}

/** Reads all items, compares them with the list, and sends what differs. Returns how many items it sent. */
async function synchronize({ send }: Directus, company: Company, { batch, atOnce }: Plan): Promise<number> {
  const wanted = itemsOf(company);
  let sent = 0;
  for (const name of collections) {
    const path = `/items/${name}`;
    const present = new Map((await send<Item[]>('GET', `${path}?limit=-1`)).map((item) => [item.id, item]));
    const isSame = (item: Item, other: Item) =>
      Object.entries(item).every(([field, value]) => other[field] === value);
    const created = wanted[name].filter(({ id }) => !present.has(id));
    const updated = wanted[name].filter(
      (item) => present.has(item.id) && !isSame(item, present.get(item.id) as Item),
    );
    for (const { id } of wanted[name]) present.delete(id);
    const removed = [...present.keys()];
    // Groups refer to groups that come before them, so their batches come one after another.
    const parallel = name === 'groups' ? 1 : atOnce;
    const inBatches = async <T>(method: string, items: T[]) => {
      const all = batches(items, batch);
      await inParallel(all.length, parallel, (i) => send(method, `${path}?fields=id`, all[i] as T[]));
    };
    await inBatches('POST', created);
    await inBatches('PATCH', updated);
    await inBatches('DELETE', removed);
    sent += created.length + updated.length + removed.length;
  }
  return sent;
}

function batches<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}
