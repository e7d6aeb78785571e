// What the house's tests read in the sources, with a parser: imports, exports and functions.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/**
 * An import. `lazy`: import('…') in an expression or in a type. `names`: what it imports, without types. `renamed`: what it imports
 * under another name.
 */
export type Import = {
  specifier: string;
  typeOnly: boolean;
  lazy: boolean;
  names: string[];
  renamed: string[];
};

/**
 * A function with its number of lines and parameters. A function without a name gets the name of what it is passed to or
 * assigned to.
 */
export type FunctionForm = { name: string; lines: number; parameters: number };

/** `exported`: the names of functions and types that the file declares and exports. */
export type Parsed = {
  imports: Import[];
  exported: { name: string; kind: 'function' | 'type' | 'value' }[];
  /** Names of another file that are only exported again. */
  forwarded: string[];
  /** Functions and values that only give another one a second name. */
  aliases: string[];
  functions: FunctionForm[];
};

type Node = { type: string; start: number; end: number } & Record<string, unknown>;

const known = new Map<string, Parsed>();

/** Returns what a file contains, by its path from the root of the repository. */
export function parsedFile(path: string): Parsed {
  const before = known.get(path);
  if (before) return before;
  const parsed = parsedText(readFileSync(join(root, path), 'utf8'), path);
  known.set(path, parsed);
  return parsed;
}

/** Returns what a text contains. Throws if it is not valid TypeScript. */
export function parsedText(text: string, path = 'file.ts'): Parsed {
  const { program, errors } = parseSync(path, text, { lang: path.endsWith('x') ? 'tsx' : 'ts' });
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const body = (program as unknown as { body: Node[] }).body;
  const statements = body.map((statement) => {
    const isExported = statement.type === 'ExportNamedDeclaration' && statement['declaration'] !== null;
    return {
      isExported,
      declared: declarationsOf(isExported ? nodeAt(statement, 'declaration') : statement),
    };
  });
  return {
    imports: importsIn(body),
    exported: statements.flatMap(({ isExported, declared }) => (isExported ? declared.map(exportOf) : [])),
    forwarded: forwardedIn(body),
    aliases: aliasesAmong(
      statements.flatMap(({ declared }) => declared),
      body,
    ),
    functions: functionsIn(body, text),
  };
}

/** Returns the file that an import of a file names, from the root of the repository; undefined for packages. */
export function importedPath(path: string, { specifier }: Pick<Import, 'specifier'>): string | undefined {
  if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(path), specifier));
  const [, workspace, rest] = /^@soundings\/(\w+)\/(?:src\/)?(.+)$/.exec(specifier) ?? [];
  return workspace === undefined ? undefined : `${workspace}/src/${rest}`;
}

type Declared = { name: string; value: Node | null; isType: boolean };

function declarationsOf(node: Node): Declared[] {
  if (node.type === 'VariableDeclaration') {
    return nodesAt(node, 'declarations').map((one) => ({
      name: nameOf(nodeAt(one, 'id')),
      value: one['init'] as Node | null,
      isType: false,
    }));
  }
  if (!isNode(node['id'])) return [];
  return [{ name: nameOf(node['id']), value: node, isType: node.type.startsWith('TS') }];
}

const exportOf = ({ name, value, isType }: Declared) => ({
  name,
  kind: isType ? ('type' as const) : isFunction(value) ? ('function' as const) : ('value' as const),
});

/**
 * Returns the names of declarations that are another name, a member of a name, or a function that only passes its parameters on.
 * What comes from a package may get a name of ours.
 */
function aliasesAmong(declared: Declared[], body: Node[]): string[] {
  const ofPackages = body
    .filter(({ type, source }) => type === 'ImportDeclaration' && isOfPackage(source as Node))
    .flatMap((one) => nodesAt(one, 'specifiers').map((name) => nameOf(nodeAt(name, 'local'))));
  return declared
    .filter(({ name, value, isType }) => {
      if (isType || value === null || name === '') return false;
      if (isFunction(value)) return isForwarding(value);
      const first = firstNameOf(value);
      return first !== undefined && ![...ofPackages, 'undefined'].includes(first);
    })
    .map(({ name }) => name);
}

const isOfPackage = ({ value }: Node) => !/^\.|^@soundings\//.test(String(value));

/** Returns `a` for `a`, and for `a.b.c`; undefined for everything else. */
function firstNameOf(node: Node): string | undefined {
  if (node.type === 'Identifier') return nameOf(node);
  const isMember = node.type === 'MemberExpression' && node['computed'] === false;
  return isMember ? firstNameOf(nodeAt(node, 'object')) : undefined;
}

function isForwarding(node: Node): boolean {
  const called = resultOf(node);
  if (called?.type !== 'CallExpression' || nodeAt(called, 'callee').type !== 'Identifier') return false;
  const [parameters, given] = [nodesAt(node, 'params'), nodesAt(called, 'arguments')];
  const names = parameters.map((one) => (one.type === 'Identifier' ? nameOf(one) : undefined));
  return (
    names.length > 0 &&
    names.length === given.length &&
    given.every((one, i) => one.type === 'Identifier' && nameOf(one) === names[i])
  );
}

/** Returns the only expression of a function, without `await` and casts; undefined if it has other statements. */
function resultOf({ body }: Node): Node | undefined {
  let node = body as Node;
  if (node.type === 'BlockStatement') {
    const [only, ...others] = nodesAt(node, 'body');
    if (!only || others.length > 0) return undefined;
    const inside = only['argument'] ?? only['expression'];
    if (!isNode(inside)) return undefined;
    node = inside;
  }
  while (node.type === 'AwaitExpression' || node.type === 'TSAsExpression') {
    node = nodeAt(node, node.type === 'AwaitExpression' ? 'argument' : 'expression');
  }
  return node;
}

/** Returns the names that are exported from another file, directly or after an import. */
function forwardedIn(body: Node[]): string[] {
  const imported = new Set(
    body
      .filter(({ type }) => type === 'ImportDeclaration')
      .flatMap((one) => nodesAt(one, 'specifiers').map((name) => nameOf(nodeAt(name, 'local')))),
  );
  return body.flatMap((one) => {
    if (one.type === 'ExportAllDeclaration') return ['*'];
    if (one.type !== 'ExportNamedDeclaration') return [];
    const names = nodesAt(one, 'specifiers').map((name) => nameOf(nodeAt(name, 'local')));
    return one['source'] === null ? names.filter((name) => imported.has(name)) : names;
  });
}

function importsIn(body: Node[]): Import[] {
  const found: Import[] = [];
  for (const one of body) {
    if (!isNode(one['source'])) continue;
    const specifiers = nodesAt(one, 'specifiers');
    const isType = (node: Node) => node['importKind'] === 'type' || node['exportKind'] === 'type';
    found.push({
      specifier: String(one['source']['value']),
      typeOnly: isType(one) || (specifiers.length > 0 && specifiers.every(isType)),
      lazy: false,
      names: specifiers
        .filter((node) => node.type === 'ImportSpecifier' && !isType(node) && !isType(one))
        .map((node) => nameOf(nodeAt(node, 'imported'))),
      renamed: specifiers
        .filter(({ type }) => type === 'ImportSpecifier')
        .map((node) => [nameOf(nodeAt(node, 'imported')), nameOf(nodeAt(node, 'local'))] as const)
        .filter(([imported, local]) => imported !== local)
        .map(([imported, local]) => `${imported} as ${local}`),
    });
  }
  visit(body, (node) => {
    if (node.type !== 'ImportExpression' && node.type !== 'TSImportType') return;
    const { value } = nodeAt(node, 'source');
    if (typeof value !== 'string') return;
    found.push({
      specifier: value,
      typeOnly: node.type === 'TSImportType',
      lazy: true,
      names: [],
      renamed: [],
    });
  });
  return found;
}

function functionsIn(body: Node[], text: string): FunctionForm[] {
  const starts = [...text.matchAll(/\n/g)].map(({ index }) => index);
  const lineOf = (place: number) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! < place) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const found: FunctionForm[] = [];
  visit(body, (node, names) => {
    if (!isFunction(node) || !isNode(node['body'])) return;
    found.push({
      name: isNode(node['id']) ? nameOf(node['id']) : (names.at(-1) ?? 'without a name'),
      lines: lineOf(node.end) - lineOf(node.start) + 1,
      parameters: nodesAt(node, 'params').length,
    });
  });
  return found;
}

/** Calls `on` for each node, with the names of the variables, properties and methods that it is in. */
function visit(node: unknown, on: (node: Node, names: string[]) => void, names: string[] = []): void {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, on, names);
    return;
  }
  if (!isNode(node)) return;
  on(node, names);
  const named = node['id'] ?? node['key'];
  const inside = isNode(named) && nameOf(named) !== '' ? [...names, nameOf(named)] : names;
  for (const [key, value] of Object.entries(node)) if (key !== 'type') visit(value, on, inside);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const isFunction = (node: Node | null): node is Node =>
  node !== null &&
  ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type);

const nodeAt = (node: Node, key: string): Node => node[key] as Node;
const nodesAt = (node: Node, key: string): Node[] => (node[key] ?? []) as Node[];
const nameOf = (node: Node): string => String(node['name'] ?? node['value'] ?? '');
