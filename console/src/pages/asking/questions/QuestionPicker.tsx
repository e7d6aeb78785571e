// Selects questions from the library, with a search, in the order in which they are chosen.
import type { QuestionTexts } from '@soundings/contract/console/asking.ts';
import { ArrowUp, X } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { useText } from '../../../text/text.tsx';
import { IconButton } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/form/Field.tsx';
import { folded } from '@soundings/contract/people/find-groups.ts';
import { SearchField } from '../../../ui/form/SearchField.tsx';
import { FieldError } from '../FieldError.tsx';
import css from './QuestionPicker.module.css';
import { useQuestionText } from '../texts.ts';

type Props = {
  label: string;
  hint?: ReactNode;
  error: string | undefined;
  value: number[];
  onChange: (value: number[]) => void;
  questions: QuestionTexts[];
  /** Whether the order matters and can be changed: questions are asked in this order. */
  isOrdered?: boolean;
};

export function QuestionPicker({ label, hint, error, value, onChange, questions, isOrdered }: Props) {
  const t = useText();
  const id = useId();
  const textOf = useQuestionText();
  const [search, setSearch] = useState('');
  const chosen = new Set(value);
  // Questions that were chosen initially come first, so that nothing moves while others are chosen.
  const [first] = useState(() => new Set(isOrdered ? [] : value));
  const found = questions
    .toSorted((a, b) => Number(first.has(b.id)) - Number(first.has(a.id)))
    .filter(
      (one) =>
        (!one.isRetired || chosen.has(one.id)) &&
        [one.key, one.text, ...Object.values(one.translations)].some((text) =>
          folded(text).includes(folded(search)),
        ),
    );
  const turn = (one: number) =>
    onChange(chosen.has(one) ? value.filter((other) => other !== one) : [...value, one]);
  return (
    <fieldset className={css['picker']} aria-describedby={`${id}-hint`}>
      <legend className={css['label']}>
        {label} <span className={css['count']}>{t('asking.chosen', { count: value.length })}</span>
      </legend>
      <FieldError error={error} />
      {isOrdered && value.length > 0 && <Chosen value={value} onChange={onChange} questions={questions} />}
      <div className={css['search']}>
        <SearchField
          label={t('asking.searchQuestions')}
          value={search}
          onChange={setSearch}
          delay={0}
          slash={false}
        />
      </div>
      <ul className={css['list']}>
        {found.map((one) => (
          <li key={one.id}>
            <label className={css['row']}>
              <Checkbox label={textOf(one)} value={chosen.has(one.id)} onChange={() => turn(one.id)} />
              <span className={css['text']}>{textOf(one)}</span>
              <span className={css['type']}>
                {one.isRetired ? t('asking.retired') : t(`questionType.${one.type}`)}
              </span>
            </label>
          </li>
        ))}
        {found.length === 0 && <li className={css['none']}>{t('state.noMatch')}</li>}
      </ul>
      {hint && (
        <p id={`${id}-hint`} className={css['hint']}>
          {hint}
        </p>
      )}
    </fieldset>
  );
}

function Chosen({ value, onChange, questions }: Pick<Props, 'value' | 'onChange' | 'questions'>) {
  const t = useText();
  const textOf = useQuestionText();
  const up = (place: number) =>
    onChange(value.with(place - 1, value[place] as number).with(place, value[place - 1] as number));
  return (
    <ol className={css['chosen']}>
      {value.map((id, place) => {
        const question = questions.find((one) => one.id === id);
        const text = question ? textOf(question) : `#${id}`;
        return (
          <li key={id} className={css['pick']}>
            <span className={css['place']}>{place + 1}</span>
            <span className={css['text']}>{text}</span>
            <IconButton
              icon={ArrowUp}
              label={t('asking.up', { text })}
              disabled={place === 0}
              onClick={() => up(place)}
            />
            <IconButton
              icon={X}
              label={t('asking.leaveOut', { text })}
              onClick={() => onChange(value.filter((one) => one !== id))}
            />
          </li>
        );
      })}
    </ol>
  );
}
