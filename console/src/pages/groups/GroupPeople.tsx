// The people of a group by kind of membership: how many, and the first ones by name.
import type { GroupDetails } from '@soundings/contract/console/groups.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../session.tsx';
import { useFormat, useText } from '../../text/text.tsx';
import { Section } from '../../ui/page/Section.tsx';
import css from './GroupPage.module.css';

export function GroupPeople({ group }: { group: GroupDetails }) {
  const t = useText();
  return (
    <Section title={t('groups.peopleTitle')}>
      <div className={css['parts']}>
        {membershipKinds.map((kind) => (
          <Part key={kind} kind={kind} group={group} />
        ))}
      </div>
    </Section>
  );
}

function Part({ kind, group }: { kind: MembershipKind; group: GroupDetails }) {
  const t = useText();
  const { number } = useFormat();
  // Only administrators can open the pages of people.
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const { count, first } = group.holders[kind];
  const more = count - first.length;
  const above = kind === 'inheritedAdminOf' ? group.administratorsAbove : 0;
  return (
    <div className={css['part']}>
      <h3>
        {t(`groups.kind.${kind}`)} <span>{number(count)}</span>
      </h3>
      <p className={css['hint']}>{t(`groups.kindText.${kind}`)}</p>
      <ul>
        {first.map(({ id, name, active }) => (
          <li key={id}>
            {isAdministrator ? <Link to={`/people/${id}`}>{name}</Link> : name}
            {!active && <span className={css['none']}> {t('groups.inactive')}</span>}
          </li>
        ))}
        {count === 0 && <li className={css['none']}>{t('groups.noOne')}</li>}
        {more > 0 && (
          <li>
            {isAdministrator && kind === 'memberOf' ? (
              <Link to="/people" search={{ group: group.id } as never}>
                {t('groups.moreHolders', { count: more })}
              </Link>
            ) : (
              t('groups.moreHolders', { count: more })
            )}
          </li>
        )}
        {above > 0 && <li className={css['none']}>{t('groups.above', { count: above })}</li>}
      </ul>
    </div>
  );
}
