// Why a sign-in provider did not sign someone in. Imports no schemas, so that browsers don't load the schema package.

/**
 * Why someone was not signed in, linked or confirmed. The console has a text for each, with the remedy (`sso.refused.…`).
 *
 * - `expired`: the visit began too long ago, or in another browser, or the response was used before
 * - `cancelled`, `provider error`: the provider responded with an error
 * - `unavailable`, `forbidden address`: the provider can't be reached, or must not be
 * - `client refused`: the provider does not accept the client ID or secret
 * - `invalid`: something about the response is wrong, such as its signature, issuer, audience or nonce
 * - `no address`, `unverified`, `domain`: the provider reports no email address, an unverified one, or one in another domain
 * - `unknown`: no one in the account has the address
 * - `taken`: the address belongs to someone with another identity at the provider
 * - `linked`: the identity belongs to someone else in the account
 * - `inactive`, `pending`: the person is inactive, or waits for confirmation as an administrator
 * - `connect first`: an administrator must link the identity in the profile first
 * - `other person`, `no time`: someone else confirmed, or the provider doesn't say when the person signed in
 * - `off`: the provider is turned off, or does not exist
 * - `other company`: a link from outside led here, so the person is asked whether the company is the right one
 * - `busy`: too many attempts
 * - `failed`: the service failed
 */
export const refusals = [
  'expired',
  'cancelled',
  'provider error',
  'unavailable',
  'forbidden address',
  'client refused',
  'invalid',
  'no address',
  'unverified',
  'domain',
  'unknown',
  'taken',
  'linked',
  'inactive',
  'pending',
  'connect first',
  'other person',
  'no time',
  'off',
  'other company',
  'busy',
  'failed',
] as const;
export type Refusal = (typeof refusals)[number];
