// Reads everything from the data interface and writes it as one JSON object.
import createClient from 'openapi-fetch';
import type { paths } from './data.d.ts';

const { SOUNDINGS_URL, SOUNDINGS_TOKEN } = process.env;
if (!SOUNDINGS_URL || !SOUNDINGS_TOKEN) throw new Error('Set SOUNDINGS_URL and SOUNDINGS_TOKEN.');
const client = createClient<paths>({
  baseUrl: SOUNDINGS_URL,
  headers: { authorization: SOUNDINGS_TOKEN },
});

/** Returns the data of a response. Throws the error message of the service if the request was refused. */
function dataOf<T>({ data, error }: { data?: T; error?: { message: string } }): T {
  if (data === undefined) throw new Error(error?.message ?? 'No response.');
  return data;
}

const groups = dataOf(await client.GET('/v1/groups'));
const kpis = dataOf(await client.GET('/v1/kpis'));

// The top-level groups. With their subgroups they are all groups of the account.
const belowTop = new Set(groups.flatMap(({ subgroups }) => subgroups));
const answers = groups
  .filter(({ id }) => !belowTop.has(id))
  .map(async ({ id }) => {
    const query = { groupId: String(id), includeSubgroups: true };
    const values = kpis.map(async (kpi) =>
      dataOf(await client.GET('/v1/kpis/{kpiId}/values', { params: { path: { kpiId: kpi.id }, query } })),
    );
    const results = client.GET('/v1/results', { params: { query: { ...query, includeComments: true } } });
    return {
      kpiValues: await Promise.all(values),
      responseRates: dataOf(await client.GET('/v1/responserates/values', { params: { query } })),
      results: dataOf(await results),
      askedQuestions: dataOf(await client.GET('/v1/askedquestions', { params: { query } })),
    };
  });

const feed = await client.GET('/v1/feed', {
  params: { query: { format: 'ndjson', language: 'en' } },
  parseAs: 'text',
});
const rows = dataOf(feed).split('\n').slice(0, -1);

const everything = {
  groups,
  kpis,
  answers: await Promise.all(answers),
  feed: rows.map((row) => JSON.parse(row) as unknown),
};
process.stdout.write(`${JSON.stringify(everything, null, 2)}\n`);
