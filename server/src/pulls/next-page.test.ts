// A list is read to its last page, or not at all: pages that can't be followed are a failure, because people would be removed.
import { describe, expect, test } from 'vitest';
import { PullFault } from './pull-fault.ts';
import { networks, openHr, sendJson, times } from './pulls.fixture.ts';
import { type FetchedList, readList } from './read-list.ts';

type Asked = { page: number; url: URL };

/** Reads a list of 25 people. `frame` returns a response for the entries of a page and what was asked for. */
async function read(path: string, frame: (items: object[], asked: Asked) => unknown, capped = 10) {
  const all = Array.from({ length: 25 }, (_, id) => ({ id }));
  const hr = await openHr((request, response) => {
    const url = new URL(request.url!, 'http://x');
    const page = Number(url.searchParams.get('page') ?? 1);
    const from = Number(url.searchParams.get('offset') ?? (page - 1) * capped);
    sendJson(response, frame(all.slice(from, from + capped), { page, url }));
  });
  return outcomeOf(hr.url + path, (list) => list?.rows);
}

/** Returns what a list has, or the error of reading it. */
function outcomeOf(url: string, has: (list: FetchedList | undefined) => unknown) {
  const source = { url, list: '', access: { kind: 'none' as const }, secret: '', columns: [] };
  return readList(source, { networks, times }, { requests: 0, bytes: 0 }).then(has, (error: unknown) =>
    error instanceof PullFault ? error.error : error,
  );
}

describe('pages that are followed', () => {
  test.each<[string, (next: string | null) => object]>([
    [
      'HAL',
      (next) => ({
        _links: { self: { href: '/x' }, ...(next !== null && { next: { href: `/list${next}` } }) },
      }),
    ],
    ['JSON:API', (next) => ({ links: { next: next === null ? null : `/list${next}` } })],
    ['a relative address', (next) => ({ next: next === null ? null : `list${next}` })],
    ['only parameters', (next) => ({ paging: { next: { link: next } } })],
    ['Laravel', (next) => ({ next_page_url: next, total: 25 })],
    ['OData', (next) => (next === null ? {} : { '@odata.nextLink': `/list${next}` })],
    ['a Spring page', (next) => ({ page: { totalElements: 25 }, next })],
  ])('%s', async (_, more) => {
    const rows = await read('/list', (items, { page }) => ({
      items,
      ...more(page < 3 ? `?page=${page + 1}` : null),
    }));
    expect(rows).toBe(25);
  });

  test.each<[string, string, (items: object[], asked: Asked) => unknown]>([
    ['smaller pages than asked for, by offset', '/list?limit=1000&offset=0', (items) => items],
    ['smaller pages than asked for, by page', '/list?page_size=1000&page=1', (items) => items],
    [
      'a number of the next page',
      '/list?page=1',
      (items, { page }) => ({ items, pagination: { next_page: page < 3 ? page + 1 : null } }),
    ],
    ['hasMore', '/list?limit=10&offset=0', (items) => ({ items, hasMore: items.length === 10 })],
  ])('%s', async (_, path, frame) => {
    expect(await read(path, frame)).toBe(25);
  });

  test('next: null is the end, although the address has page_size and page, and another page is an error', async () => {
    const asked: number[] = [];
    const rows = await read('/list?page_size=10&page=1', (results, { page }) => {
      asked.push(page);
      return { count: 25, results, next: page < 3 ? `/list?page_size=10&page=${page + 1}` : null };
    });
    expect([rows, asked]).toEqual([25, [1, 2, 3]]);
  });

  test('a list that is read as far as its total is not asked for another page', async () => {
    const asked: string[] = [];
    const rows = await read('/list?limit=10&offset=0', (data, { url }) => {
      asked.push(url.search);
      return { data, metadata: { total_elements: 25 } };
    });
    expect([rows, asked.length]).toEqual([25, 3]);
  });
});

describe('pages that can not be followed are a failure', () => {
  test.each<[string, object]>([
    ['the number of the next page', { pagination: { next_page: 2 } }],
    ['a token', { nextPageToken: 'CAEaGQ' }],
    ['a cursor', { meta: { next_cursor: 'dXNlcjpXMDdRQ1JQQTQ=' } }],
    ['a cursor called next', { next: 'dXNlcjpXMDdRQ1JQQTQ' }],
    ['a cursor without an address', { paging: { next: { after: 'NTI1' } } }],
    ['hasMore', { hasMore: true }],
    ['has_more', { has_more: true }],
    ['hasNextPage', { pageInfo: { hasNextPage: true, endCursor: 'x' } }],
    ['last', { last: false }],
    ['totalResults', { totalResults: 25, itemsPerPage: 10, startIndex: 1 }],
    ['total', { total: 25 }],
    ['total_count', { total_count: '25' }],
    ['count', { count: 25 }],
    ['a total beside the list', { meta: { pagination: { total: 25 } } }],
  ])('%s', async (_, more) => {
    expect(await read('/list', (items) => ({ items, ...more }))).toBe('incomplete');
  });

  test.each<[string, object]>([
    ['an empty next', { next: null, has_more: false, nextPageToken: '' }],
    ['no next of HAL', { _links: { self: { href: '/list' } } }],
    ['the last page', { last: true, hasMore: false, links: { next: null } }],
    ['a count of the page', { count: 10 }],
    ['a total that is reached', { totalResults: 10 }],
    ['fields of other things', { nextMeeting: '2026-12-01', totals: 99, more: 'text', total: { salary: 4 } }],
  ])('%s is the end', async (_, more) => {
    expect(await read('/list', (items) => ({ items, ...more }))).toBe(10);
  });
});

describe('CSV and Excel have no pages', () => {
  const csv = 'id,name\r\n1,Ann\r\n';
  test.each<[string, string, Record<string, string>, string | number]>([
    ['a next page in the header', '/list', { link: '</list?page=2>; rel="next"' }, 'incomplete'],
    ['an offset in the address', '/list?limit=100&offset=0', {}, 'incomplete'],
    ['a page in the address', '/list?page=1', {}, 'incomplete'],
    ['a link to something else', '/list?limit=100', { link: '</list>; rel="self"' }, 'stored'],
  ])('%s', async (_, path, headers, expected) => {
    const hr = await openHr((__, response) =>
      response.writeHead(200, { 'content-type': 'text/csv', ...headers }).end(csv),
    );
    expect(await outcomeOf(hr.url + path, (list) => list?.bytes.toString() === csv && 'stored')).toBe(
      expected,
    );
  });
});
