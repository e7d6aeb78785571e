// Escapes text for HTML.

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Returns a text escaped for use between tags or in a quoted attribute. */
export const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (one) => entities[one] as string);
