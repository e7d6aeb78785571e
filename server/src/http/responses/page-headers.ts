// The headers of pages that browsers show: a page runs and shows only what the service itself serves.

/** Returns the headers. `allowed`: what a page may do besides running scripts and styles of the service and sending requests to it. */
export const pageHeaders = (allowed: Record<string, "'self'"> = {}): Record<string, string> => ({
  'content-security-policy': Object.entries({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'style-src-attr': "'none'",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    ...allowed,
  })
    .map((directive) => directive.join(' '))
    .join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'referrer-policy': 'no-referrer',
});
