// Paths of attributes, such as name.familyName, emails or urn:…:User:department, in filters, PATCH operations and lists of attributes
// (RFC 7644 §3.10). Pure.
import {
  attributeNamed,
  commonAttributes,
  type ResourceKind,
  type ScimAttribute,
  schemasOf,
} from './schemas.ts';

/** An attribute, or one of its parts. `extension`: the URN of the extension in which it is. */
export type AttributePath = {
  extension: string | undefined;
  attribute: ScimAttribute;
  part: ScimAttribute | undefined;
};

/** A path that names a whole extension. */
export type ExtensionPath = { extension: string; attribute: undefined; part: undefined };

/**
 * Returns what a path names, ignoring case; undefined if there is no such attribute. The URN of a schema may be followed by a colon, as
 * in the standard, or by a dot, as Microsoft Entra sends it.
 */
export function attributePathOf(kind: ResourceKind, path: string): AttributePath | ExtensionPath | undefined {
  const [core, ...extensions] = schemasOf[kind];
  const lower = path.toLowerCase();
  for (const { id, attributes } of extensions) {
    if (lower === id.toLowerCase()) return { extension: id, attribute: undefined, part: undefined };
    const rest = afterUrn(path, id);
    if (rest !== undefined) return inSchema(attributes, rest, id);
  }
  return inSchema([...commonAttributes, ...core.attributes], afterUrn(path, core.id) ?? path, undefined);
}

/** Returns what follows the URN of a schema in a path; undefined if the path does not begin with it. */
function afterUrn(path: string, urn: string): string | undefined {
  const isUnder =
    path.slice(0, urn.length).toLowerCase() === urn.toLowerCase() && /^[:.]/.test(path.slice(urn.length));
  return isUnder ? path.slice(urn.length + 1) : undefined;
}

function inSchema(
  attributes: readonly ScimAttribute[],
  path: string,
  extension: string | undefined,
): AttributePath | undefined {
  const [name = '', partName, ...more] = path.split('.');
  const attribute = attributeNamed(attributes, name);
  if (!attribute || more.length > 0) return undefined;
  if (partName === undefined) return { extension, attribute, part: undefined };
  const part = attributeNamed(attribute.subAttributes ?? [], partName);
  return part && { extension, attribute, part };
}
