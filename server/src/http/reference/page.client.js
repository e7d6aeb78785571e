// Shows the API reference. Scalar's program, loaded before, has nothing that reaches other servers or keeps anything in the browser turned on.

const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');

/** The theme that was chosen in the console, or the system's. */
function themeOf() {
  let chosen;
  try {
    chosen = window.localStorage.getItem('theme');
  } catch {
    // The browser allows no storage.
  }
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return systemIsDark.matches ? 'dark' : 'light';
}

const configuration = () => ({
  url: '/v1/openapi/all.json',
  // Requests go to the service that serves the page, even if it has other addresses.
  servers: [{ url: window.location.origin }],
  theme: 'none',
  forceDarkModeState: themeOf(),
  hideDarkModeToggle: true,
  withDefaultFonts: false,
  // The code samples of the documents are shown instead.
  hiddenClients: true,
  documentDownloadType: 'none',
  // A token is kept only in memory.
  persistAuth: false,
  // Nothing of Scalar's own services.
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true, hideAddApi: true },
  mcp: { disabled: true },
});

const reference = window.Scalar.createApiReference('#reference', configuration());
systemIsDark.addEventListener('change', () => reference.updateConfiguration(configuration()));
