// The choice of the language of a preview: buttons if there are a few languages, otherwise a list.
import { useData } from '../../hooks/data.ts';
import { useLanguageNames } from '../../text/languages.ts';
import { useText } from '../../text/text.tsx';
import { SelectField } from '../../ui/form/Select.tsx';
import { ToggleGroup } from '../../ui/form/ToggleGroup.tsx';

/** How many buttons fit above a preview. */
const mostButtons = 4;

type Props = { languages: readonly string[]; value: string; onChange: (language: string) => void };

export function PreviewLanguage({ languages, value, onChange }: Props) {
  const t = useText();
  const { nameOf } = useLanguageNames();
  const { data: answering = [] } = useData('GET /languages', undefined, { once: true });
  const isDraft = (code: string) => answering.some(({ language, isDraft: is }) => language === code && is);
  const label = t('asking.previewLanguage');
  if (languages.length <= mostButtons) {
    const options = languages.map((code) => ({ value: code, label: nameOf(code) }));
    return <ToggleGroup {...{ label, value, onChange, options }} />;
  }
  const options = languages.map((code) => ({
    value: code,
    label: isDraft(code) ? t('language.draft', { language: nameOf(code) }) : nameOf(code),
  }));
  return <SelectField hideLabel {...{ label, value, onChange, options }} />;
}
