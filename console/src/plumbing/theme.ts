// Light, dark, or as the system has it: kept in this browser, where the browser keeps anything.
export type Theme = 'system' | 'light' | 'dark';

/** Where the browser keeps nothing for a page, asking alone throws. */
function keeping<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

export function storedTheme(): Theme {
  const theme = keeping(() => localStorage.getItem('theme'));
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') {
    keeping(() => localStorage.removeItem('theme'));
    delete document.documentElement.dataset['theme'];
  } else {
    keeping(() => localStorage.setItem('theme', theme));
    document.documentElement.dataset['theme'] = theme;
  }
}
