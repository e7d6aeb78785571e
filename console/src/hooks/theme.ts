// The theme: light, dark or the system's. Stored in this browser, if it allows storage.
import { withStorage } from './browser-storage.ts';

export type Theme = 'system' | 'light' | 'dark';

export function storedTheme(): Theme {
  const theme = withStorage(() => localStorage.getItem('theme'));
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') {
    withStorage(() => localStorage.removeItem('theme'));
    delete document.documentElement.dataset['theme'];
  } else {
    withStorage(() => localStorage.setItem('theme', theme));
    document.documentElement.dataset['theme'] = theme;
  }
}
