// Reads everything that the data interface tells, and writes it as one JSON object.
import createClient from 'openapi-fetch';
import type { paths } from './data.d.ts';

const { SOUNDINGS_URL, SOUNDINGS_TOKEN } = process.env;
if (!SOUNDINGS_URL || !SOUNDINGS_TOKEN) throw new Error('Set SOUNDINGS_URL and SOUNDINGS_TOKEN.');
const client = createClient<paths>({
  baseUrl: SOUNDINGS_URL,
  headers: { authorization: SOUNDINGS_TOKEN },
});

/** What was answered; throws in the words of the service when it refused. */
function told<T>({ data, error }: { data?: T; error?: { message: string } }): T {
  if (data === undefined) throw new Error(error?.message ?? 'There was no answer.');
  return data;
}

const groups = told(await client.GET('/v1/groups'));
const kpis = told(await client.GET('/v1/kpis'));

// The groups that are beneath no other: with those beneath them they are all that there are.
const beneath = new Set(groups.flatMap(({ subgroups }) => subgroups));
const answers = groups
  .filter(({ id }) => !beneath.has(id))
  .map(async ({ id }) => {
    const query = { groupId: String(id), includeSubgroups: true };
    const values = kpis.map(async (kpi) =>
      told(await client.GET('/v1/kpis/{kpiId}/values', { params: { path: { kpiId: kpi.id }, query } })),
    );
    const results = client.GET('/v1/results', { params: { query: { ...query, includeComments: true } } });
    return {
      kpiValues: await Promise.all(values),
      responseRates: told(await client.GET('/v1/responserates/values', { params: { query } })),
      results: told(await results),
      askedQuestions: told(await client.GET('/v1/askedquestions', { params: { query } })),
    };
  });

const feed = await client.GET('/v1/feed', {
  params: { query: { format: 'ndjson', language: 'en' } },
  parseAs: 'text',
});
const rows = told(feed).split('\n').slice(0, -1);

const everything = {
  groups,
  kpis,
  answers: await Promise.all(answers),
  feed: rows.map((row) => JSON.parse(row) as unknown),
};
process.stdout.write(`${JSON.stringify(everything, null, 2)}\n`);
