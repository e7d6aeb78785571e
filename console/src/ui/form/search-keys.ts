// The keys of a search field: "/" focuses it from anywhere on the page, Esc clears it.

type Key = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean };
/** Where the key was pressed: in a field, or while a dialog is open. */
type Place = { isTyping: boolean; hasDialog: boolean };

/** Returns whether a key focuses the search field of the page. */
export const focusesSearch = (
  { key, ctrlKey, metaKey, altKey }: Key,
  { isTyping, hasDialog }: Place,
): boolean => key === '/' && !ctrlKey && !metaKey && !altKey && !isTyping && !hasDialog;

/** Returns whether a key clears the field. In an empty field Esc is left to others, such as the dialog around it. */
export const clearsSearch = (key: string, text: string): boolean => key === 'Escape' && text !== '';
