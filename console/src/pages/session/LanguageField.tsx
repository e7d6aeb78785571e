// A field for the language of a person or a company. Languages with texts for people who answer come first, and a language whose texts
// no native speaker has read is marked.
import { useData } from '../../hooks/data.ts';
import { useLanguageNames } from '../../text/languages.ts';
import { useText } from '../../text/text.tsx';
import { ComboboxField } from '../../ui/form/Combobox.tsx';

type Props = {
  label: string;
  hint?: string;
  error?: string | undefined;
  name?: string;
  /** A code of ISO 639-1, or '' if there is a first option. */
  value: string;
  onChange: (value: string) => void;
  /** What the first option says, whose value is ''. */
  first?: string;
  /** The language that the first option stands for. */
  inherited?: string;
};

export function LanguageField({ hint, error, first, inherited, ...field }: Props) {
  const t = useText();
  const { nameOf, options } = useLanguageNames();
  const { data: answering = [] } = useData('GET /languages', undefined, { once: true });
  const chosen = field.value || inherited;
  const byCode = new Map(answering.map((one) => [one.language, one]));
  const all = options(chosen, [...byCode.keys()]).map((option) => ({
    ...option,
    label: byCode.get(option.value)?.isDraft ? t('language.draft', { language: option.label }) : option.label,
  }));
  return (
    <ComboboxField
      {...field}
      {...(error !== undefined && { error })}
      hint={[hint, note()].filter(Boolean).join(' ')}
      search={t('select.searchLanguages')}
      options={first === undefined ? all : [{ value: '', label: first }, ...all]}
    />
  );

  /** Returns the note about the chosen language. */
  function note(): string {
    if (!chosen || answering.length === 0) return '';
    const own = byCode.get(chosen);
    if (!own) return t('language.none');
    const stand = own.texts === chosen ? '' : t('language.other', { language: nameOf(own.texts) });
    return [stand, own.isDraft ? t('language.draftNote') : ''].filter(Boolean).join(' ');
  }
}
