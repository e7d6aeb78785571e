// The current units of the demo company, and the names from which its people are drawn.

export type Country = 'se' | 'uk' | 'de';

/** Where people work: the values of the attribute of the demo company. */
export const workplaces = ['Office', 'Workshop', 'Shop', 'Warehouse'] as const;
export type Workplace = (typeof workplaces)[number];

/**
 * A group of the demo company. `people`: the number of its own members, without the members of subgroups; the first member leads
 * the group. `before`: the group that its members were in before the reorganization, if that was a different group.
 */
export type Unit = {
  id: string;
  name: string;
  parent: string | null;
  people: number;
  country: Country;
  workplace: Workplace;
  description?: string;
  before?: string;
};

type More = Partial<Pick<Unit, 'country' | 'workplace' | 'description' | 'before'>>;

/**
 * A unit and its subunits. Subunits inherit the country and workplace of the unit unless they have their own; `before` is not
 * inherited.
 */
type Branch = { id: string; name: string; people: number; more: More; subunits: Branch[] };

const unit = (
  id: string,
  name: string,
  people: number,
  more: More = {},
  subunits: Branch[] = [],
): Branch => ({
  id,
  name,
  people,
  more,
  subunits,
});

const office: More = { workplace: 'Office' };
const shop = (country: Country): More => ({ workplace: 'Shop', country });
const fromCare: More = { before: 'care' };

const company = unit('lavmark', 'Lavmark', 2, { description: 'Tents, packs and clothes for the hills' }, [
  unit('design', 'Design and Product', 2, office, [
    unit('clothing', 'Clothing', 1, {}, [
      unit('clothing-shell', 'Shell and Rainwear', 12),
      unit('clothing-wool', 'Wool and Down', 11),
    ]),
    unit('equipment', 'Equipment', 1, {}, [
      unit('equipment-tents', 'Tents', 10),
      unit('equipment-packs', 'Backpacks', 9),
    ]),
    unit('materials-lab', 'Materials Lab', 8, { description: 'Tears, soaks and freezes things' }),
    unit('sustainability', 'Sustainability', 3),
  ]),
  unit('workshops', 'Workshops', 3, { workplace: 'Workshop' }, [
    unit('boras', 'Borås Workshop', 2, { description: 'Clothing' }, [
      unit('boras-cutting', 'Cutting Room', 20),
      unit('boras-day', 'Sewing, Day Shift', 30),
      unit('boras-evening', 'Sewing, Evening Shift', 22),
    ]),
    unit('ostersund', 'Östersund Workshop', 2, { description: 'Tents and packs' }, [
      unit('ostersund-tents', 'Tent Hall', 19),
      unit('ostersund-packs', 'Pack Hall', 16),
    ]),
    unit('repairs', 'Repair Workshop', 12, { description: 'Repairs everything we have ever made' }),
  ]),
  unit('shops', 'Shops', 3, office, [
    unit('shops-sweden', 'Shops Sweden', 1, shop('se'), [
      unit('shop-stockholm', 'Stockholm Shop', 19),
      unit('shop-goteborg', 'Göteborg Shop', 15),
      unit('shop-malmo', 'Malmö Shop', 12),
    ]),
    unit('shops-britain', 'Shops Britain', 1, shop('uk'), [
      unit('shop-london', 'London Shop', 15),
      unit('shop-edinburgh', 'Edinburgh Shop', 9),
      unit('shop-keswick', 'Keswick Shop', 4),
    ]),
    unit('shops-germany', 'Shops Germany', 1, shop('de'), [
      unit('shop-berlin', 'Berlin Shop', 16),
      unit('shop-munich', 'München Shop', 14),
      unit('shop-hamburg', 'Hamburg Shop', 10),
      unit('shop-freiburg', 'Freiburg Shop', 3),
    ]),
  ]),
  unit('digital', 'Online and Care', 2, office, [
    unit('care', 'Customer Care', 2, {}, [
      unit('care-nordic', 'Customer Care Nordic', 14, fromCare),
      unit('care-europe', 'Customer Care Europe', 12, fromCare),
    ]),
    unit('online', 'Online Shop', 2, fromCare, [
      unit('online-campaigns', 'Campaigns', 8, fromCare),
      unit('online-range', 'Range and Prices', 10, fromCare),
    ]),
  ]),
  unit('logistics', 'Warehouse and Logistics', 2, office, [
    unit('warehouse', 'Jönköping Warehouse', 3, { workplace: 'Warehouse' }, [
      unit('warehouse-inbound', 'Goods In', 17),
      unit('warehouse-picking', 'Picking and Packing', 27),
      unit('warehouse-returns', 'Returns', 11),
    ]),
    unit('transport', 'Transport and Customs', 8),
    unit('purchasing', 'Purchasing', 9),
  ]),
  unit('marketing', 'Marketing', 2, office, [
    unit('brand', 'Brand and Pictures', 12),
    unit('events', 'Events and Partners', 4),
  ]),
  unit('it', 'IT', 2, office, [
    unit('it-platform', 'Platform', 10),
    unit('it-shops', 'Shop Systems', 9),
    unit('it-helpdesk', 'Helpdesk', 7),
  ]),
  unit('finance', 'Finance and Administration', 2, office, [
    unit('accounting', 'Accounting', 13),
    unit('payroll', 'Payroll', 3),
  ]),
  unit('people', 'People and Culture', 2, office, [
    unit('people-partners', 'People Partners', 9),
    unit('safety', 'Health and Safety', 2),
  ]),
]);

function unfold({ subunits, more, ...rest }: Branch, above?: Unit): Unit[] {
  const { before, description, country, workplace } = more;
  const own: Unit = {
    ...rest,
    parent: above?.id ?? null,
    country: country ?? above?.country ?? 'se',
    workplace: workplace ?? above?.workplace ?? 'Office',
    ...(description !== undefined && { description }),
    ...(before !== undefined && { before }),
  };
  return [own, ...subunits.flatMap((branch) => unfold(branch, own))];
}

/** All units, each after its parent. The first is the company. */
export const units: readonly Unit[] = unfold(company);

/** Pairs of groups: one person of the first group is a member of the second as well. */
export const lentOut: readonly (readonly [string, string])[] = [
  ['repairs', 'shop-stockholm'],
  ['materials-lab', 'equipment-tents'],
  ['it-shops', 'online'],
  ['brand', 'online-campaigns'],
  ['shop-malmo', 'warehouse-returns'],
  ['shop-berlin', 'care-europe'],
  ['clothing-wool', 'boras-cutting'],
];

const listOf = (text: string) => text.trim().split(/\s+/);

/** First and last names, by country. */
export const names: Record<Country, { first: string[]; last: string[] }> = {
  se: {
    first: listOf(`
      Agnes Alva Amanda Anders Anton Astrid Axel Björn Carina Cecilia Daniel Ebba Elin Elsa Emil Emma Erik Eva Filip
      Frida Fredrik Gabriel Gunilla Gustav Hanna Hans Helena Henrik Ida Ingrid Isak Jenny Johan Jonas Josefin Karin
      Kerstin Klara Kristina Lars Lena Linnea Lovisa Magnus Malin Marcus Maja Mats Mikael Moa Nils Ola Olle Oskar
      Per Petra Rasmus Rikard Sanna Sara Sigrid Simon Sofia Stina Sven Tilda Tove Ulrika Viktor Wilma Åke Åsa Örjan
      Amina Darko Leyla Milan Nadia Yusuf`),
    last: listOf(`
      Ahlgren Andersson Berg Bergström Björk Blom Dahl Ek Ekström Engström Eriksson Forsberg Fransson Gustafsson
      Hagström Hedlund Hellström Holm Holmgren Isaksson Jansson Johansson Karlsson Lind Lindberg Lindqvist Lund
      Lundgren Löfgren Magnusson Mårtensson Nilsson Norberg Nyström Olsson Persson Pettersson Rask Sandberg Sjöberg
      Sjöström Ström Sundin Svensson Söderlund Wallin Wikström Åberg Åkesson Öberg Demir Hassan Kovačević Rahimi`),
  },
  uk: {
    first: listOf(`
      Aisha Alice Amelia Andrew Beth Callum Charlotte Chloe Daniel David Eilidh Emily Fiona George Grace Hannah Harry
      Imogen Jack James Kate Liam Lucy Megan Mohammed Natalie Oliver Owen Priya Rachel Rory Sam Sophie Tom Zara`),
    last: listOf(`
      Adams Ahmed Baker Bell Brown Campbell Carter Clarke Cooper Davies Evans Fraser Green Hall Harris Hughes Kaur
      Kelly MacLeod Mitchell Morris Murray O'Neill Patel Reid Roberts Shaw Stewart Taylor Turner Walker Wood Wright`),
  },
  de: {
    first: listOf(`
      Anja Anke Annika Bastian Birgit Carla Claudia Dennis Dirk Elif Felix Florian Franziska Greta Hannes Heike Jan
      Jürgen Jörg Katharina Lea Leon Lukas Marie Matthias Mehmet Mia Moritz Nele Nina Paul Ronja Sabine Sebastian
      Silke Sören Tim Ute Uwe Yasemin`),
    last: listOf(`
      Albrecht Bauer Becker Böhm Braun Brandt Fischer Fuchs Groß Günther Hartmann Hoffmann Jäger Kaiser Keller Klein
      Koch Köhler Krämer Krüger Lehmann Meyer Möller Müller Neumann Peters Richter Schäfer Schmidt Schröder Schulz
      Schwarz Sommer Vogel Wagner Weber Weiß Winkler Yılmaz Zimmermann`),
  },
};
