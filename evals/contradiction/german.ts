/** German pairs, `older | newer`, one per line. `pairs.ts` defines the labels. */
export const GERMAN = {
  duplicate: `
    Ich wohne in Köln | Ich lebe in Köln
    Ich mag Kaffee | Ich mag Kaffee wirklich sehr
    Mein Name ist Jonas | Ich heiße Jonas
    Ich habe zwei Katzen | Ich habe 2 Katzen
    Meine Lieblingsfarbe ist Grün | Grün ist meine Lieblingsfarbe
    Ich esse kein Fleisch | Ich esse nie Fleisch
    Montags gehe ich schwimmen | Ich gehe montags schwimmen
    Übrigens, ich arbeite bei Siemens | Ich arbeite bei Siemens
    Mein Hund heißt Bello | Ich habe einen Hund namens Bello
    Ich bin Lehrerin | Ich arbeite als Lehrerin
    Ich bin 42 Jahre alt | Ich bin 42
    Das Treffen ist um 15 Uhr | Um 15 Uhr ist das Treffen
  `,
  update: `
    Ich wohne in Köln | Ich wohne jetzt in Bonn
    Ich wohne in Köln | Ich bin nach Leipzig gezogen
    Ich rauche | Ich rauche nicht mehr
    Ich arbeite bei Siemens | Ich arbeite jetzt bei Bosch
    Ich habe 2 Katzen | Ich habe jetzt 3 Katzen
    Meine Lieblingsband ist Muse | Meine Lieblingsband ist Blur
    Ich mag Kaffee | Ich mag keinen Kaffee mehr
    Ich nutze Windows | Ich bin von Windows auf Linux umgestiegen
  `,
  conflict: `
    Der Termin ist am Montag | Der Termin ist am Dienstag
    Das Ticket kostet 30 Euro | Das Ticket kostet 35 Euro
    Das Museum hat sonntags geöffnet | Das Museum hat sonntags nicht geöffnet
    Anna isst Fisch | Anna isst keinen Fisch
    Unser Team hat 12 Leute | Unser Team hat 14 Leute
  `,
  unrelated: `
    Ich wohne in Berlin | Ich wohne in Deutschland
    Ich wohne in Berlin | Meine Schwester wohnt in Hamburg
    Ich mag Tee | Ich mag Kaffee
    Ich mag Tee | Ich mag keinen Kaffee
    Ich habe 2 Brüder | Ich habe 3 Schwestern
    Ich arbeite bei Siemens | Ich arbeite bei Regen im Haus
    Kapitel 3 ist fertig | Kapitel 4 ist fertig
    Ich bin am Montag 5 km gelaufen | Ich bin am Freitag 8 km gelaufen
    Mein Hund heißt Bello | Meine Katze heißt Minka
    Ich habe am Montag einen Termin | Ich habe am Dienstag einen Termin
    Ich wohne in Köln | Ich habe früher in Bonn gewohnt
    Mein linkes Knie tut weh | Mein rechtes Knie tut weh
  `,
} as const
