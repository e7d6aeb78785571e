// Joins the class names that apply.
export const cx = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(' ');
