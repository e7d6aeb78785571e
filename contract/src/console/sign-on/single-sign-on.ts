// The console: signing in with OpenID Connect providers. Their settings, for administrators, and the identities of users.
import { Type } from 'typebox';
import { operation } from '../operation.ts';
import type { Refusal } from './refusals.ts';
import { type Role, roles } from '../../people/roles.ts';

/** A value of the role claim, and the role that it gives. */
export type RoleValue = { value: string; role: Role };

/** What a test of a provider has found. `refusal`: why the tester could not have signed in; null: they could have. */
export type TestOutcome = {
  refusal: Refusal | null;
  /** What the provider or the check reported, for the administrator who sets it up. */
  detail: string | null;
  email: string | null;
  isVerified: boolean;
  /** The values of the role claim; null: there is no such claim. */
  roleValues: string[] | null;
  /** The role that these values give; null: the role stays as it is. */
  role: Role | null;
  /** Whether the provider says when the person signed in, which confirming sensitive actions requires. */
  hasTime: boolean;
  /** How the person signed in, as the provider reports it (amr, acr). */
  methods: string[];
};

export type ProviderView = {
  id: number;
  name: string;
  issuer: string;
  clientId: string;
  /** The addresses to enter at the provider. */
  addresses: { redirect: string; afterSignOut: string; backChannel: string; frontChannel: string };
  enabled: boolean;
  domains: string[];
  trustsDomains: boolean;
  createsPeople: boolean;
  roleClaim: string | null;
  roleValues: RoleValue[];
  sessionHours: number | null;
  /** How many people have an identity there. */
  people: number;
  lastTest: (TestOutcome & { at: string }) | null;
};

export type BreakGlassAdministrator = {
  id: number;
  name: string;
  email: string | null;
  isChosen: boolean;
  hasPassword: boolean;
  hasTwoFactor: boolean;
};

export type SingleSignOn = {
  providers: ProviderView[];
  /** The address of the account's sign-in page with the buttons of its providers. */
  signInAddress: string;
  required: boolean;
  administrators: BreakGlassAdministrator[];
};

/** A button on the sign-in page. `key` identifies the provider in addresses. */
export type ProviderButton = { key: string; name: string };

/** A provider in the profile. `linkedAt`: null if the user has no identity there. */
export type OwnIdentity = { providerId: number; name: string; linkedAt: string | null };

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const fields = {
  name: text(60),
  enabled: Type.Boolean(),
  domains: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 50 }),
  trustsDomains: Type.Boolean(),
  createsPeople: Type.Boolean(),
  roleClaim: Type.Union([text(200), Type.Null()]),
  roleValues: Type.Array(
    Type.Object({ value: text(200), role: Type.Enum([...roles]) }, { additionalProperties: false }),
    { maxItems: 50 },
  ),
  sessionHours: Type.Union([Type.Integer({ minimum: 1, maximum: 720 }), Type.Null()]),
};
const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

export const singleSignOnOperations = {
  'GET /sso': operation<SingleSignOn>()({ minimumRole: 'Administrator' }),
  /** Adds a provider, which is turned off. Its address is requested first, and must respond as an OpenID Connect provider. */
  'POST /sso/providers': operation<{ id: number }>()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Object(
      { name: fields.name, issuer: text(1000), clientId: text(500), clientSecret: text(2000) },
      { additionalProperties: false },
    ),
  }),
  'PATCH /sso/providers/{providerId}': operation()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Partial(
      Type.Object({ ...fields, clientSecret: text(2000) }, { additionalProperties: false }),
      {
        additionalProperties: false,
      },
    ),
  }),
  /** Removes a provider, with its identities, and ends the sessions of people who signed in with it. */
  'DELETE /sso/providers/{providerId}': operation()({ minimumRole: 'Administrator', proof: true }),
  /** Begins a test. Returns the address at the provider to open. The result is then in `lastTest`. */
  'POST /sso/providers/{providerId}/test': operation<{ address: string }>()({ minimumRole: 'Administrator' }),
  /** Requires single sign-on or not, and chooses the break-glass administrators. */
  'PUT /sso/required': operation()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Object(
      { required: Type.Boolean(), breakGlass: Type.Array(id, { maxItems: 100 }) },
      { additionalProperties: false },
    ),
  }),

  'GET /profile/identities': operation<OwnIdentity[]>()({ minimumRole: 'User' }),
  /** Begins to link an identity to the user. Returns the address at the provider to open. */
  'POST /profile/identities/{providerId}': operation<{ address: string }>()({
    minimumRole: 'User',
    proof: true,
  }),
  'DELETE /profile/identities/{providerId}': operation()({ minimumRole: 'User', proof: true }),
  /** Begins to confirm who the user is with the provider of the session. Returns the address at the provider to open. */
  'POST /session/proof/provider': operation<{ address: string }>()({ minimumRole: 'User' }),
};
