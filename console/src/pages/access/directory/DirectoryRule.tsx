// The rule by which groups are derived from a directory: choosing it, seeing what it would change, and applying exactly that.
import type { TreePlan, TreeRule } from '@soundings/contract/scim/directory.ts';
import { scimLevels } from '@soundings/contract/scim/levels.ts';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useAction } from '../../../hooks/action.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Consequences } from '../../../ui/dialog/Consequences.tsx';
import { CheckboxField } from '../../../ui/form/Field.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Failed } from '../../../ui/page/States.tsx';
import css from '../access.module.css';

const kinds = ['none', 'attributes', 'managers', 'groups'] as const;
type Kind = (typeof kinds)[number];
type Level = (typeof scimLevels)[number];

export function DirectoryRule({ chosen }: { chosen: TreeRule }) {
  const t = useText();
  const [kind, setKind] = useState<Kind>(chosen.kind);
  const [levels, setLevels] = useState<readonly Level[]>(
    chosen.kind === 'attributes' ? chosen.levels : ['department'],
  );
  const [plan, setPlan] = useState<TreePlan>();
  const { busy, error, run } = useAction();
  const rule: TreeRule =
    kind === 'attributes' ? { kind, levels: scimLevels.filter((level) => levels.includes(level)) } : { kind };
  const toggle = (level: Level) => (isOn: boolean) =>
    setLevels(isOn ? [...levels, level] : levels.filter((one) => one !== level));
  return (
    <Section title={t('directory.rule')} description={t('directory.ruleText')}>
      <div className={css['fields']}>
        <SelectField
          label={t('directory.ruleField')}
          hint={t(`directory.ruleHint.${kind}`)}
          value={kind}
          onChange={setKind}
          options={kinds.map((value) => ({ value, label: t(`directory.rule.${value}`) }))}
        />
        {kind === 'attributes' && (
          <fieldset className={css['choices']}>
            <legend>{t('directory.levels')}</legend>
            {scimLevels.map((level) => (
              <CheckboxField
                key={level}
                label={t(`directory.level.${level}`)}
                value={levels.includes(level)}
                onChange={toggle(level)}
              />
            ))}
          </fieldset>
        )}
        {error !== undefined && <Failed error={error} />}
        <div>
          <Button
            busy={busy}
            disabled={kind === 'attributes' && levels.length === 0}
            onClick={() => run(async () => setPlan(await api('POST /directory/plan', { body: { rule } })))}
          >
            {t('directory.showPlan')}
          </Button>
        </div>
      </div>
      {plan && <PlanOfRule rule={rule} plan={plan} onClose={() => setPlan(undefined)} />}
    </Section>
  );
}

function PlanOfRule({ rule, plan, onClose }: { rule: TreeRule; plan: TreePlan; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const { number } = useFormat();
  const { groups, users } = plan.summary;
  const isNothing = [groups, users].every(
    ({ created, updated, deleted }) => created + updated + deleted === 0,
  );
  const counts = [
    t('directory.planGroups', {
      created: number(groups.created),
      updated: number(groups.updated),
      deleted: number(groups.deleted),
    }),
    t('directory.planUsers', { updated: number(users.updated), created: number(users.created) }),
  ];
  const shown = plan.changes
    .slice(0, 20)
    .map(({ name, externalId, action }) => `${name ?? externalId}: ${t(`directory.change.${action}`)}`);
  return (
    <ConfirmDialog
      open
      wide
      onClose={onClose}
      title={t('directory.planTitle')}
      text={
        <>
          {isNothing ? <p>{t('directory.planNothing')}</p> : <Consequences items={counts} />}
          {shown.length > 0 && <Consequences title={t('directory.planFirst')} items={[...new Set(shown)]} />}
          {plan.warnings.length > 0 && (
            <Consequences
              title={t('directory.planWarnings')}
              items={[...new Set(plan.warnings)].slice(0, 20)}
            />
          )}
        </>
      }
      confirm={t('directory.apply')}
      danger={groups.deleted > 0}
      onConfirm={async () => {
        await api('PUT /directory/rule', { body: { rule, summary: plan.summary } });
        await refresh('GET /directory');
        return t('directory.applied');
      }}
    />
  );
}
