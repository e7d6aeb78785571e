// Pictures of the emails and text messages that people got: as an email program or a phone shows them.
import type { Browser, Page } from 'playwright-core';
import { escaped } from '../../base/html.ts';
import type { ReceivedMail } from '../smtp.ts';

/** The emails and text messages in docs/screens, in their order. */
export const messages = [
  { name: 'invitation', title: 'Invitation', description: 'What people get when a week begins.' },
  { name: 'reminder', title: 'Reminder', description: 'For people who haven’t answered.' },
  {
    name: 'text-message',
    title: 'Text messages',
    description: 'For people with a phone and no email address.',
  },
  {
    name: 'digest-manager',
    title: 'Digest for a manager',
    description: 'When a week has closed: the results of the groups that the person can see.',
  },
  {
    name: 'digest-administrator',
    title: 'Digest for an administrator',
    description: 'The company’s results.',
  },
  { name: 'test-mail', title: 'Test email', description: 'From the settings.' },
] as const;

const [width, most] = [720, 1800];

const page = (body: string) => `<!doctype html><meta charset="utf-8"><style>
  :root { color-scheme: light dark; font: 14px/20px system-ui, sans-serif; }
  body { margin: 0; background: light-dark(#fff, #1c1c1f); color: light-dark(#222, #ddd); }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 0; padding: 16px 20px;
       border-bottom: 1px solid light-dark(#ddd, #444); }
  dt { color: light-dark(#666, #999); }
  dd { margin: 0; overflow-wrap: anywhere; }
  iframe { display: block; width: 100%; border: 0; }
  .sms { display: grid; gap: 12px; padding: 24px; background: light-dark(#f2f2f5, #111); }
  .sms p { max-width: 420px; margin: 0; padding: 10px 14px; border-radius: 16px; background: light-dark(#fff, #2b2b30);
           font-size: 16px; line-height: 22px; overflow-wrap: anywhere; }
</style>${body}`;

/** Returns an email as a page: its headers, and its HTML in a frame. */
export function mailPage({ headers, html }: ReceivedMail): string {
  const rows = (['from', 'to', 'subject'] as const).map((name) => {
    const label = name[0]?.toUpperCase() + name.slice(1);
    return `<dt>${label}</dt><dd>${escaped(headers[name] ?? '')}</dd>`;
  });
  return page(`<dl>${rows.join('')}</dl><iframe srcdoc="${escaped(html)}"></iframe>`);
}

export const smsPage = (texts: readonly string[]): string =>
  page(`<div class="sms">${texts.map((text) => `<p>${escaped(text)}</p>`).join('')}</div>`);

/** Takes the picture of a message in both themes. `pathOf`: returns the file of a theme. */
export async function takeMessage(
  browser: Browser,
  html: string,
  pathOf: (theme: 'light' | 'dark') => string,
  quality: number,
): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 600 } });
    const tab = await context.newPage();
    await tab.setContent(html);
    const height = Math.min(most, await grown(tab));
    await tab.setViewportSize({ width, height });
    await tab.screenshot({ path: pathOf(colorScheme), type: 'jpeg', quality });
    await context.close();
  }
}

/** Makes the frame as high as what is in it, and returns the height of the page. */
const grown = (tab: Page) =>
  tab.evaluate<number>(`(() => {
    const frame = document.querySelector('iframe');
    if (frame) frame.style.height = frame.contentDocument.documentElement.scrollHeight + 'px';
    return Math.ceil(document.body.getBoundingClientRect().height);
  })()`);
