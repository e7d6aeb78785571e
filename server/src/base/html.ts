// Text within HTML.

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it stands between tags, or between the quotes of an attribute. */
export const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (one) => entities[one] as string);
