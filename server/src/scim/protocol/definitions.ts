// What the SCIM interface supports, and the attributes of its resources, as it describes them itself (RFC 7643 §5 to §7). Pure.
import type { JsonObject } from '../../base/json/json.ts';
import { maxScimBodyBytes, maxScimOperations, maxScimResults } from '@soundings/contract/limits.ts';
import {
  allSchemas,
  enterpriseSchema,
  groupSchema,
  type ScimAttribute,
  type ScimSchema,
  userSchema,
} from './schemas.ts';

const core = 'urn:ietf:params:scim:schemas:core:2.0';

/** `base`: the address of the interface. */
export const serviceConfig = (base: string, documents: string): JsonObject => ({
  schemas: [`${core}:ServiceProviderConfig`],
  documentationUri: documents,
  patch: { supported: true },
  bulk: { supported: true, maxOperations: maxScimOperations, maxPayloadSize: maxScimBodyBytes },
  filter: { supported: true, maxResults: maxScimResults },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'API token',
      description: 'An API token of the account with the scim scope, as a bearer token.',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

/** Returns the types of resources. */
export const resourceTypes = (base: string): JsonObject[] => [
  {
    schemas: [`${core}:ResourceType`],
    id: 'User',
    name: 'User',
    endpoint: '/Users',
    description: 'User Account',
    schema: userSchema,
    schemaExtensions: [{ schema: enterpriseSchema, required: false }],
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/User` },
  },
  {
    schemas: [`${core}:ResourceType`],
    id: 'Group',
    name: 'Group',
    endpoint: '/Groups',
    description: 'Group',
    schema: groupSchema,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/Group` },
  },
];

/** Returns the schemas with all their attributes. */
export const schemaResources = (base: string): JsonObject[] =>
  allSchemas.map((schema) => schemaResource(base, schema));

const schemaResource = (base: string, { id, name, description, attributes }: ScimSchema): JsonObject => ({
  schemas: [`${core}:Schema`],
  id,
  name,
  description,
  attributes: attributes.map(described),
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
});

function described({
  subAttributes,
  canonicalValues,
  referenceTypes,
  ...attribute
}: ScimAttribute): JsonObject {
  return {
    ...attribute,
    ...(canonicalValues && { canonicalValues }),
    ...(referenceTypes && { referenceTypes }),
    ...(subAttributes && { subAttributes: subAttributes.map(described) }),
  };
}
