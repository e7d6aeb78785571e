// Every route of the service with the file that serves it, read from the contract and from the sources, for docs/routes.md.
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import * as data from '@soundings/contract/data.ts';
import type { Operation } from '@soundings/contract/operation.ts';
import * as organization from '@soundings/contract/organization.ts';
import { scimOperations } from '@soundings/contract/scim/scim.ts';
import * as storage from '@soundings/contract/storage.ts';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `file`: in server/src. */
export type Route = { route: string; about: string; file: string };

const root = fileURLToPath(new URL('../../', import.meta.url));
const texts = globSync('**/*.ts', { cwd: root })
  .filter((file) => !/\.(test|fixture)\.ts$|^testing\//.test(file))
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

/** Returns the only file in which a pattern occurs. Throws if there is none, or more than one. */
function servedIn(what: string, pattern: RegExp): string {
  const found = texts.filter(({ text }) => pattern.test(text)).map(({ file }) => file);
  if (found.length !== 1) throw new Error(`${what} is served in ${found.join(' and ') || 'no file'}.`);
  return found[0] as string;
}

/** Returns the operations of the three interfaces, with the scope that a token needs. */
export function interfaceRoutes(): (Route & { scope: string })[] {
  const operations = [data, organization, storage]
    .flatMap((module) => Object.entries(module) as [string, unknown][])
    .flatMap(([name, value]) => (isOperation(value) ? [{ name, ...value }] : []))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const own = operations.map(({ name, method, path, summary, scope }) => {
    const file = servedIn(name, new RegExp(`^import \\{[^}]*\\b${name}\\b[^}]*\\} from '@soundings`, 'm'));
    return { route: `${method} ${path}`, about: summary, file, scope };
  });
  // They are served by type of resource, so their names are not imported one by one.
  const file = servedIn('scimUsers', /^import \{[^}]*\bscimUsers\b[^}]*\} from '@soundings/m);
  const ofScim = scimOperations.map(({ method, path, summary, scope }) => ({
    route: `${method} ${path}`,
    about: summary,
    file,
    scope,
  }));
  return [...own, ...ofScim];
}

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'operationId' in value;

/** Returns the operations of the console's API, with the role that a user needs at least. */
export const consoleRoutes = (): (Route & { role: string })[] =>
  Object.entries(consoleOperations).map(([name, { minimumRole }]) => ({
    route: name.replace(' ', ' /api'),
    about: '',
    file: servedIn(name, new RegExp(`\\.serve(?:Anyone)?\\(\\s*'${name.replaceAll(/[{}.]/g, '\\$&')}'`)),
    role: minimumRole === 'anyone' ? '' : minimumRole,
  }));

const others: readonly [route: string, about: string][] = [
  ['GET /a/:link', 'the answering page of a personal link'],
  ['POST /a/:link', 'the form of that page, without JavaScript'],
  ['POST /a/:link/answers', 'one answer, saved while the person answers'],
  ['GET /a/*', 'a link with missing or additional characters'],
  ['GET /r/:token', 'turning reminders on or off, from a link in a reminder'],
  ['POST /r/:token', 'the form of that page, and the one-click request of mail programs'],
  ['GET /r/*', 'a link with missing or additional characters'],
  ['GET /d/:token', 'turning the weekly digest on or off, from a link in a digest'],
  ['POST /d/:token', 'the form of that page, and the one-click request of mail programs'],
  ['GET /d/*', 'a link with missing or additional characters'],
  ['GET /go', 'where people enter the code of their card'],
  ['POST /go', 'a code, which opens the answering page'],
  ['GET /k/:secret', 'a kiosk'],
  ['POST /k/:secret/open', 'a code entered at a kiosk'],
  ['GET /sso/:key/start', 'signing in with a provider: leads there'],
  ['GET /sso/:key/callback', 'the response of a provider'],
  ['POST /sso/:key/back-channel-logout', 'a logout token of a provider, which ends sessions'],
  ['GET /sso/:key/front-channel-logout', 'a frame in which a provider ends sessions'],
  ['GET /docs', 'the API reference'],
  ['GET /docs/${name}.js', 'Scalar, which shows it'],
  ['GET /docs/policy.js', 'what makes Scalar keep to the policy of the page'],
  ['GET /docs/reference.js', 'its configuration'],
  ['GET /docs/reference.css', 'its colors'],
  ['GET /docs/plain', 'the API documentation without a script'],
  ['GET /docs/errors', 'the types of errors with examples'],
  ['GET /docs/style.css', 'the style of both'],
  ['GET /v1/openapi/${name}.json', 'the OpenAPI document of an interface, of webhooks, or of all'],
  ['GET /health/live', 'whether the process runs'],
  ['GET /health/ready', 'whether it can handle requests'],
  ['GET /metrics', 'metrics in the format of Prometheus'],
];

/** Returns the other routes. Throws if the sources have one that is not listed here, or the other way round. */
export function otherRoutes(): Route[] {
  const literal = /\bapp\.get\(\s*['`]([^'`*]+)['`]|^ {4}\['(GET|POST)', '([^']+)', \w+/gm;
  const found = texts.flatMap(({ file, text }) =>
    [...text.matchAll(literal)].map(([, got, method = 'GET', path]) => ({
      route: `${method} ${got ?? path}`,
      file,
    })),
  );
  const unlisted = found.find(({ route }) => !others.some(([known]) => known === route));
  if (unlisted) throw new Error(`${unlisted.route} is not listed in testing/house/routes.ts.`);
  return others.map(([route, about]) => {
    const file = found.find((one) => one.route === route)?.file;
    if (file === undefined) throw new Error(`${route} does not exist.`);
    return { route: route.replace('${name}', '{name}'), about, file };
  });
}
