// What a response contains of a resource: everything, or only the attributes that the caller asks for (RFC 7644 §3.9). Pure.
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts';
import { attributePathOf } from './attribute-paths.ts';
import type { ResourceKind } from './schemas.ts';

/** The attributes to return or to leave out, as lower-case paths; undefined if the caller doesn't say. */
export type Projection = { only: Chosen | undefined; without: Chosen | undefined };

/** For each attribute, as `urn|name`: its parts, or undefined for the whole attribute. */
type Chosen = Map<string, Set<string> | undefined>;

/** Reads `attributes` and `excludedAttributes`. Unknown names are ignored. */
export function projectionOf(
  kind: ResourceKind,
  {
    attributes,
    excludedAttributes,
  }: { attributes?: string | undefined; excludedAttributes?: string | undefined },
): Projection {
  return { only: chosenIn(kind, attributes), without: chosenIn(kind, excludedAttributes) };
}

function chosenIn(kind: ResourceKind, list: string | undefined): Chosen | undefined {
  if (list === undefined || list.trim() === '') return undefined;
  const chosen: Chosen = new Map();
  // A filter in brackets, as in emails[type eq "work"], does not change which attribute is meant.
  for (const name of list
    .slice(0, 10_000)
    .replaceAll(/\[[^\]]*\]/g, '')
    .split(',')
    .slice(0, 200)) {
    const path = attributePathOf(kind, name.trim());
    if (!path) continue;
    const key = keyOf(path.extension, path.attribute?.name ?? '*');
    const parts = chosen.get(key);
    if (!path.part) chosen.set(key, undefined);
    else if (!chosen.has(key)) chosen.set(key, new Set([path.part.name]));
    else parts?.add(path.part.name);
  }
  return chosen;
}

const keyOf = (extension: string | undefined, name: string) => `${extension ?? ''}|${name}`;

/** Returns whether a response contains an attribute of the resource itself, such as members. */
export function isReturned({ only, without }: Projection, name: string): boolean {
  const key = keyOf(undefined, name);
  if (only) return only.has(key);
  return !(without?.has(key) && without.get(key) === undefined);
}

/** The attributes that every response has. */
const always = new Set(['id', 'schemas']);

/** Returns the resource with the wanted attributes. */
export function projected(resource: JsonObject, projection: Projection): JsonObject {
  if (!projection.only && !projection.without) return resource;
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(resource)) {
    const isExtension = name.startsWith('urn:') && isJsonObject(value);
    const kept = always.has(name)
      ? value
      : isExtension
        ? inExtension(name, value, projection)
        : partOf(undefined, name, value, projection);
    if (kept !== undefined) result[name] = kept;
  }
  return result;
}

function inExtension(urn: string, value: JsonObject, projection: Projection): JsonValue | undefined {
  const { only, without } = projection;
  if (only?.has(keyOf(urn, '*'))) return value;
  if (without?.has(keyOf(urn, '*'))) return undefined;
  const kept = Object.entries(value).flatMap(([name, one]) => {
    const part = partOf(urn, name, one, projection);
    return part === undefined ? [] : [[name, part] as const];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function partOf(
  extension: string | undefined,
  name: string,
  value: JsonValue,
  { only, without }: Projection,
): JsonValue | undefined {
  const key = keyOf(extension, name);
  if (only) {
    if (!only.has(key)) return undefined;
    const parts = only.get(key);
    return parts ? keepParts(value, (part) => parts.has(part)) : value;
  }
  if (!without?.has(key)) return value;
  const parts = without.get(key);
  return parts && keepParts(value, (part) => !parts.has(part));
}

function keepParts(value: JsonValue, isKept: (part: string) => boolean): JsonValue {
  if (Array.isArray(value)) return value.map((one) => keepParts(one, isKept));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([part]) => isKept(part)));
}
