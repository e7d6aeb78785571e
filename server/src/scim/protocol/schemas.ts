// The attributes of users and groups of a directory (RFC 7643 §4), for reading requests and for /Schemas. Pure.

export type AttributeType = 'string' | 'boolean' | 'dateTime' | 'reference' | 'binary' | 'complex';

/** An attribute, named as in RFC 7643 §7. */
export type ScimAttribute = {
  name: string;
  type: AttributeType;
  multiValued: boolean;
  description: string;
  required: boolean;
  caseExact: boolean;
  mutability: 'readWrite' | 'readOnly' | 'immutable';
  returned: 'default' | 'always';
  uniqueness: 'none' | 'server';
  canonicalValues?: string[];
  referenceTypes?: string[];
  subAttributes?: ScimAttribute[];
};

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

function attribute(
  name: string,
  description: string,
  more: Partial<Omit<ScimAttribute, 'name' | 'description'>> = {},
): ScimAttribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...more,
  };
}

const boolean = { type: 'boolean' } as const;
const complex = (subAttributes: ScimAttribute[]) => ({ type: 'complex', subAttributes }) as const;

/** Returns a multi-valued attribute with the usual parts (RFC 7643 §2.4). */
const several = (
  name: string,
  description: string,
  types: string[] = [],
  value: Partial<ScimAttribute> = {},
) =>
  attribute(name, description, {
    multiValued: true,
    ...complex([
      attribute('value', `The value of ${name}.`, value),
      attribute('display', 'A name for display.'),
      attribute('type', 'A label for the kind of value.', types.length > 0 ? { canonicalValues: types } : {}),
      attribute('primary', 'Whether this is the preferred value.', boolean),
    ]),
  });

/** The attributes that every resource has (RFC 7643 §3.1). */
export const commonAttributes: readonly ScimAttribute[] = [
  attribute('id', 'The id of the resource, which never changes.', {
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
    uniqueness: 'server',
  }),
  attribute('externalId', 'The id of the resource in the directory.', { caseExact: true }),
  attribute('schemas', 'The schemas of the resource.', {
    multiValued: true,
    type: 'reference',
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
  }),
  attribute('meta', 'When the resource was created and changed, and its version.', {
    mutability: 'readOnly',
    ...complex([
      attribute('resourceType', 'User or Group.', { caseExact: true, mutability: 'readOnly' }),
      attribute('created', 'When it was created.', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('lastModified', 'When it was last changed.', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('location', 'Its address.', { type: 'reference', caseExact: true, mutability: 'readOnly' }),
      attribute('version', 'Its version, as in the ETag header.', {
        caseExact: true,
        mutability: 'readOnly',
      }),
    ]),
  }),
];

const workHomeOther = ['work', 'home', 'other'];

export const userAttributes: readonly ScimAttribute[] = [
  attribute('userName', 'The name that identifies the user. Upper and lower case count as equal.', {
    required: true,
    uniqueness: 'server',
  }),
  attribute(
    'name',
    'The parts of the name.',
    complex([
      attribute('formatted', 'The whole name.'),
      attribute('familyName', 'The family name.'),
      attribute('givenName', 'The given name.'),
      attribute('middleName', 'Middle names.'),
      attribute('honorificPrefix', 'A title before the name.'),
      attribute('honorificSuffix', 'A suffix after the name.'),
    ]),
  ),
  attribute('displayName', 'The name for display.'),
  attribute('nickName', 'A casual name.'),
  attribute('profileUrl', 'The address of a profile.', { type: 'reference', referenceTypes: ['external'] }),
  attribute('title', 'The job title.'),
  attribute('userType', 'The relation to the company, such as Employee or Contractor.'),
  attribute('preferredLanguage', 'The language, such as sv or en-GB.'),
  attribute('locale', 'The locale, such as sv-SE. Its language is used if there is no preferredLanguage.'),
  attribute('timezone', 'The time zone, such as Europe/Stockholm.'),
  attribute('active', 'Whether the person is active: can sign in and gets questions.', boolean),
  several('emails', 'Email addresses. The primary work address is used.', workHomeOther),
  several('phoneNumbers', 'Phone numbers. The mobile number is used.', [
    ...workHomeOther,
    'mobile',
    'fax',
    'pager',
  ]),
  several('ims', 'Instant messaging addresses.'),
  several('photos', 'Addresses of photos.', ['photo', 'thumbnail'], {
    type: 'reference',
    referenceTypes: ['external'],
  }),
  attribute('addresses', 'Postal addresses.', {
    multiValued: true,
    ...complex([
      attribute('formatted', 'The whole address.'),
      attribute('streetAddress', 'Street and number.'),
      attribute('locality', 'The city.'),
      attribute('region', 'The state or region.'),
      attribute('postalCode', 'The postal code.'),
      attribute('country', 'The country.'),
      attribute('type', 'A label for the kind of address.', { canonicalValues: workHomeOther }),
      attribute('primary', 'Whether this is the preferred address.', boolean),
    ]),
  }),
  attribute('groups', 'The groups of the directory that the user is a member of.', {
    multiValued: true,
    mutability: 'readOnly',
    ...complex([
      attribute('value', 'The id of the group.', { mutability: 'readOnly', caseExact: true }),
      attribute('$ref', 'The address of the group.', {
        type: 'reference',
        mutability: 'readOnly',
        referenceTypes: ['Group'],
      }),
      attribute('display', 'The name of the group.', { mutability: 'readOnly' }),
    ]),
  }),
  several('entitlements', 'Entitlements. They have no effect in Soundings.'),
  several('roles', 'Roles. They have no effect in Soundings.'),
  several('x509Certificates', 'Certificates.', [], { type: 'binary', caseExact: true }),
];

export const enterpriseAttributes: readonly ScimAttribute[] = [
  attribute('employeeNumber', 'The employee number.'),
  attribute('costCenter', 'The cost center.'),
  attribute('organization', 'The organization.'),
  attribute('division', 'The division.'),
  attribute('department', 'The department.'),
  attribute(
    'manager',
    'The manager.',
    complex([
      attribute('value', 'The id of the manager.', { caseExact: true }),
      attribute('$ref', 'The address of the manager.', { type: 'reference', referenceTypes: ['User'] }),
      attribute('displayName', 'The name of the manager.', { mutability: 'readOnly' }),
    ]),
  ),
];

export const groupAttributes: readonly ScimAttribute[] = [
  attribute('displayName', 'The name of the group.', { required: true }),
  attribute('members', 'The members of the group: users and groups.', {
    multiValued: true,
    ...complex([
      attribute('value', 'The id of the member.', { mutability: 'immutable', caseExact: true }),
      attribute('$ref', 'The address of the member.', {
        type: 'reference',
        mutability: 'immutable',
        referenceTypes: ['User', 'Group'],
      }),
      attribute('display', 'The name of the member.', { mutability: 'immutable' }),
      attribute('type', 'User or Group.', { mutability: 'immutable', canonicalValues: ['User', 'Group'] }),
    ]),
  }),
];

export type ResourceKind = 'User' | 'Group';

/** A schema of a type of resource: the core attributes, or an extension under its URN. */
export type ScimSchema = {
  id: string;
  name: string;
  description: string;
  attributes: readonly ScimAttribute[];
};

const schemas = {
  user: { id: userSchema, name: 'User', description: 'User Account', attributes: userAttributes },
  enterprise: {
    id: enterpriseSchema,
    name: 'EnterpriseUser',
    description: 'Enterprise User',
    attributes: enterpriseAttributes,
  },
  group: { id: groupSchema, name: 'Group', description: 'Group', attributes: groupAttributes },
} satisfies Record<string, ScimSchema>;

export const allSchemas: readonly ScimSchema[] = Object.values(schemas);

/** The schemas of each type of resource: the core first. */
export const schemasOf: Record<ResourceKind, readonly [ScimSchema, ...ScimSchema[]]> = {
  User: [schemas.user, schemas.enterprise],
  Group: [schemas.group],
};

/** Returns the attribute with this name, ignoring case. */
export function attributeNamed(
  attributes: readonly ScimAttribute[],
  name: string,
): ScimAttribute | undefined {
  const key = name.toLowerCase();
  return attributes.find((one) => one.name.toLowerCase() === key);
}
