// The files in docs/operators/monitoring: valid for Prometheus and Grafana, and every metric in them exists in GET /metrics.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificate } from '../mail/certificate.fixture.ts';
import { openWorld, type World } from '../testing/world.ts';

const folder = fileURLToPath(new URL('../../../docs/operators/monitoring/', import.meta.url));
const textOf = (name: string) => readFileSync(`${folder}${name}`, 'utf8');
type Panel = {
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string }[];
};
const { panels } = JSON.parse(textOf('dashboard.json')) as { panels: Panel[] };
const alerts = textOf('alerts.yml');

let world: World;
let metrics: string;
beforeAll(async () => {
  const server = { host: '127.0.0.1', port: 9, ca: (await certificate())?.cert };
  world = await openWorld(undefined, { auditSyslog: server });
  await world.account();
  await fetch(`${world.address}/v1/groups`);
  metrics = await (await fetch(`${world.address}/metrics`)).text();
});
afterAll(() => world.close());

/** Returns the metrics of an expression, each with the values of one label if the expression compares it with a text. */
function metricsIn(expression: string): { name: string; labels: [label: string, values: string[]][] }[] {
  return [...expression.matchAll(/(soundings_\w+)(\{[^}]*\})?/g)].map(([, name = '', selector = '']) => ({
    name,
    labels: [...selector.matchAll(/(\w+)=~?"([^"]*)"/g)]
      .map(([, label = '', values = '']): [string, string[]] => [label, values.split('|')])
      .filter(([label]) => label === 'what' || label === 'key'),
  }));
}

const used: [place: string, expression: string][] = [
  ...[...alerts.matchAll(/- alert: (\w+)\n\s+expr: (>\n\s+)?(.*)/g)].map(
    ([, name = '', , expression = '']): [string, string] => [`alert ${name}`, expression],
  ),
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }): [string, string] => [`panel ${title}`, expr]),
  ),
];

test('the alerts and panels are found by this test', () => {
  expect(used.filter(([place]) => place.startsWith('alert'))).toHaveLength(alerts.match(/- alert:/g)!.length);
  expect(used.length).toBeGreaterThan(25);
});

test.each(used)('every metric of %s exists, with the values of its labels', (place, expression) => {
  const found = metricsIn(expression);
  expect(found.length > 0 || /up\{/.test(expression)).toBe(true);
  for (const { name, labels } of found) {
    expect(metrics, place).toMatch(new RegExp(`^${name}(\\{| )`, 'm'));
    for (const [label, values] of labels)
      for (const value of values)
        expect(metrics, place).toMatch(new RegExp(`^${name}\\{[^}]*${label}="${value}"`, 'm'));
  }
});

test('no panel covers another, and each has a description or is clear without one', () => {
  for (const [i, { gridPos: a, title }] of panels.entries())
    for (const { gridPos: b } of panels.slice(i + 1))
      expect(
        a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y,
        `${title} covers another panel`,
      ).toBe(true);
});

describe('promtool', () => {
  const promtool = (...args: string[]) => promisify(execFile)('promtool', args, { cwd: folder });

  test('accepts the alerts, their tests pass, and it accepts the metrics', async (context) => {
    const version = await promtool('--version').catch(() => undefined);
    if (!version) return context.skip('SKIPPED: promtool is missing (Debian: prometheus)');
    expect((await promtool('check', 'rules', 'alerts.yml')).stdout).toContain('SUCCESS');
    expect((await promtool('test', 'rules', 'alerts.test.yml')).stdout).toContain('SUCCESS');
    expect((await promtool('check', 'config', '--syntax-only', 'prometheus.yml')).stdout).toContain(
      'SUCCESS',
    );
    const checked = promisify(execFile)('promtool', ['check', 'metrics']);
    checked.child.stdin?.end(metrics);
    const complaints = (await checked.catch((error: { stderr: string }) => error)).stderr ?? '';
    // Names of the default metrics of prom-client, which every Node service has.
    const ours = complaints.split('\n').filter((line) => line !== '' && !/nodejs|process_/.test(line));
    expect(ours).toEqual([]);
  });
});
