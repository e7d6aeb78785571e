// The texts of a question: a column for each language, a row for each text.
import { isChoice, type QuestionType } from '@soundings/contract/question-types.ts';
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { Plus, Trash2, X } from 'lucide-react';
import { useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { TextField } from '../../../ui/form/Field.tsx';
import type { FormState } from '../../../ui/form/Form.tsx';
import { Locked } from '../../../ui/Locked.tsx';
import { AddCombobox } from '../../../ui/form/Combobox.tsx';
import css from './Translations.module.css';
import { FieldError } from '../FieldError.tsx';
import { type Draft, type DraftShape, fieldOf, suggestedId, withoutOption } from './question-draft.ts';
import { useLanguageNames } from '../../../text/languages.ts';

type TranslationsProps = {
  form: FormState<Draft>;
  shape: DraftShape;
  setShape: (shape: DraftShape) => void;
  type: QuestionType;
  /** Whether the question is new. The ids of an existing question's options can't be changed. */
  isNew: boolean;
};

export function Translations({ form, shape, setShape, type, isNew }: TranslationsProps) {
  const t = useText();
  const { languages } = shape;
  const isOptioned = isChoice(type);
  return (
    <div className={css['around']}>
      <div
        className={css['grid']}
        style={{
          gridTemplateColumns: `${isOptioned ? '132px ' : ''}repeat(${languages.length}, minmax(172px, 1fr))`,
        }}
      >
        {isOptioned && <span />}
        {languages.map((code) => (
          <Head key={code} code={code} form={form} shape={shape} setShape={setShape} />
        ))}
        {isOptioned && <span className={css['name']}>{t('asking.question')}</span>}
        {languages.map((code) => (
          <Cell key={code} {...{ form, shape, code }} label={t('asking.question')} lines={3} />
        ))}
        {isOptioned &&
          Array.from({ length: shape.options }, (_, i) => (
            <OptionRow key={i} {...{ form, shape, setShape, isNew }} option={i} />
          ))}
      </div>
      <div className={css['foot']}>
        {isOptioned && isNew && (
          <Button icon={Plus} onClick={() => setShape({ ...shape, options: shape.options + 1 })}>
            {t('asking.addOption')}
          </Button>
        )}
        <AddLanguage shape={shape} setShape={setShape} />
      </div>
      <FieldError error={form.field('options').error} />
    </div>
  );
}

type Shared = Pick<TranslationsProps, 'form' | 'shape' | 'setShape'>;

function Head({ code, form, shape, setShape }: Shared & { code: string }) {
  const t = useText();
  const { nameOf } = useLanguageNames();
  const name = nameOf(code);
  const isBase = code === shape.base;
  const drop = () => {
    const gone = new Set(
      [undefined, ...Array(shape.options).keys()].map((i) => fieldOf(i, code, shape.base)),
    );
    for (const field of gone) form.set(field, '');
    setShape({ ...shape, languages: shape.languages.filter((one) => one !== code) });
  };
  return (
    <div className={css['head']}>
      <span className={css['language']}>{name}</span>
      {isBase ? (
        <Badge>{t('asking.base')}</Badge>
      ) : (
        <IconButton icon={X} label={t('asking.dropLanguage', { language: name })} onClick={drop} />
      )}
    </div>
  );
}

type CellProps = {
  form: FormState<Draft>;
  shape: DraftShape;
  code: string;
  label: string;
  option?: number;
  lines: number;
};

function Cell({ form, shape, code, label, option, lines }: CellProps) {
  const { nameOf } = useLanguageNames();
  const { value, ...field } = form.field(fieldOf(option, code, shape.base));
  return (
    <TextField
      {...field}
      value={value ?? ''}
      label={`${label}, ${nameOf(code)}`}
      hideLabel
      multiline={lines}
      lang={code}
      dir={writingDirectionOf(code)}
    />
  );
}

function OptionRow({ form, shape, setShape, option, isNew }: Shared & { option: number; isNew: boolean }) {
  const t = useText();
  const { value = '', ...field } = form.field(`options/${option}/id`);
  const label = t('asking.option', { number: option + 1 });
  return (
    <>
      {isNew ? (
        <div className={css['id']}>
          <TextField
            {...field}
            value={value}
            label={t('asking.optionId', { number: option + 1 })}
            hideLabel
            mono
            placeholder={suggestedId(form.values, option) || t('asking.id')}
          />
          <IconButton
            icon={Trash2}
            label={t('asking.dropOption', { number: option + 1 })}
            onClick={() => {
              const next = withoutOption(form.values, option);
              // Sets every field. Those of the last place become empty, because there is one option fewer.
              for (const name of Object.keys(form.values)) form.set(name, next[name] ?? '');
              setShape({ ...shape, options: shape.options - 1 });
            }}
          />
        </div>
      ) : (
        <span className={css['name']}>
          <code>{value}</code> <Locked reason={t('asking.optionsFixed')} />
        </span>
      )}
      {shape.languages.map((code) => (
        <Cell key={code} {...{ form, shape, code, label, option }} lines={1} />
      ))}
    </>
  );
}

function AddLanguage({ shape, setShape }: Pick<TranslationsProps, 'shape' | 'setShape'>) {
  const t = useText();
  const { options } = useLanguageNames();
  return (
    <AddCombobox
      label={t('asking.addLanguage')}
      search={t('select.searchLanguages')}
      onChange={(code) => setShape({ ...shape, languages: [...shape.languages, code] })}
      options={options().filter(({ value }) => !shape.languages.includes(value))}
    />
  );
}
