/** English pairs, `older | newer`, one per line. `pairs.ts` defines the labels. */
export const ENGLISH = {
  duplicate: `
    I like Python | I really like Python!
    I live in Berlin | I'm living in Berlin
    The user lives in Oslo | I live in Oslo
    My favourite colour is green | Green is my favourite color
    I am allergic to peanuts | I have a peanut allergy
    I have two cats | I have 2 cats
    My dog is called Rex | I have a dog named Rex
    I work at Siemens | I am employed at Siemens
    I don't eat meat | I do not eat any meat
    I work as a nurse | I am a nurse
    I prefer tea over coffee | I prefer tea to coffee
    I go swimming on Mondays | On Mondays I go swimming
    The user prefers dark mode | User prefers dark mode.
    I love jazz | I'm a big fan of jazz
    My birthday is on May 3 | I was born on May 3
    My sister lives in Madrid | My sister is living in Madrid
    The meeting is at 3 pm | The meeting is at 3pm
    I can't stand loud music | I hate loud music
    I have been vegetarian since 2019 | I've been a vegetarian since 2019
    By the way, I play the cello | I play the cello
    My name is Ada Byron | I'm called Ada Byron
    Our office closes at six | Our office closes at 6
    I usually drink my coffee black | I drink my coffee black
    My wife's name is Clara | My wife is called Clara
    The deploy script lives in scripts/deploy.sh | The deploy script is in scripts/deploy.sh
    I'm vegan | I am vegan
    My email is ada@example.com | My e-mail address is ada@example.com
    Remember that I take my tea without sugar | I take my tea without sugar
    I do not own a car | I don't have a car
    I speak Spanish and German | I speak German and Spanish
    The user has a son who is 7 years old | The user has a 7-year-old son
    I enjoy hiking in the mountains | I love hiking in the mountains
    We use PostgreSQL for our database | Our database is PostgreSQL
    My brother Tom is a pilot | My brother Tom works as a pilot
    I want short answers | I want answers to be short
    I usually wake up at 6 am | I generally get up at 6 am
    User is learning Japanese | I am learning Japanese
    Just so you know, I'm colour-blind | I am color-blind
    The project is called Falcon | The project's name is Falcon
    I never drink alcohol | I don't drink alcohol
    I am 34 years old | I'm 34
    My daughter started school in September | In September my daughter started school
    I study physics at the university of Vienna | I am studying physics at the University of Vienna
    I have a cat named Minka | My cat's name is Minka
    My phone number is +49 30 123456 | My phone is +49 30 123456
    I have a meeting with Carla every Friday | Every Friday I have a meeting with Carla
    I am married to Jonas | Jonas is my husband
    The API limit is 100 requests per minute | The API limit is 100 requests a minute
    I dislike olives | I don't like olives
    Please always answer in German | Always answer in German, please
    Our team has twelve people | Our team has 12 people
    I'm afraid of spiders | I am scared of spiders
    The backup runs every night at 2:00 | Every night at 2:00 the backup runs
    I own a red bicycle | I have a red bike
    I moved to Lisbon in 2018 | In 2018 I moved to Lisbon
    My favorite food is ramen | My favourite food is definitely ramen
    Anna is my sister | My sister is Anna
    I prefer TypeScript over JavaScript | I'd rather use TypeScript than JavaScript
    My boss is called Peter | My boss's name is Peter
    Also, the user works from home | The user works from home
    I do not like to be called in the morning | I don't like being called in the morning
    I'm a software engineer | I work as a software engineer
    My flight leaves on 12 May at 9:30 | On 12 May at 9:30 my flight leaves
    The car belongs to my father | The car is my father's
    The wifi password is on the fridge | The Wi-Fi password is on the fridge.
    I can't eat gluten | I cannot eat gluten
    I need glasses to read | I need reading glasses
    I like to read before going to bed | I like reading before going to bed
    My mother was born in Kraków | My mum was born in Krakow
    I have three kids | I have three children
    I train for a marathon | I am training for a marathon
    We meet at the library | We're meeting at the library
    My parents live in Graz | My mother and father live in Graz
    I play football every Sunday | I play football on Sundays
    I quit smoking in 2020 | I stopped smoking in 2020
  `,
  update: `
    I live in Berlin | I moved to Hamburg
    I live in Munich | I live in Vienna now
    I work at Google | I now work at Mozilla
    My favourite editor is vim | My favourite editor is Helix
    I have 2 cats | I now have 3 cats
    I like coffee | I don't like coffee anymore
    I eat meat | I no longer eat meat
    I smoke | I quit smoking
    I use Windows | I switched from Windows to Linux
    The review is on Monday | The review was moved to Wednesday
    My name is Ada Miller | My name is Ada Stone now
    I am 34 years old | I am 35 years old
    I have a dog | I don't have a dog anymore
    My phone number is 555 123 456 | My phone number is 555 987 654
    My email is ada@old.example | My email is ada@new.example
    I love spicy food | I can't stand spicy food anymore
    I prefer tea over coffee | I prefer coffee over tea
    I work as a waiter | I work as a teacher now
    The project deadline is June 1 | The project deadline has been moved to June 15
    I drive a Golf | I switched from a Golf to a Tesla
    I'm single | I'm married now
    My manager is Paula | My manager is now Stefan
    I play tennis | I stopped playing tennis
    The user lives in Rome | The user moved to Milan
    I am learning Spanish | I am no longer learning Spanish
    Our office is in Bonn | Our office is now in Cologne
    The server has 16 GB of memory | The server now has 32 GB of memory
    We use MySQL | We migrated from MySQL to PostgreSQL
    My favourite band is Muse | My favorite band is now Radiohead
    I am a student | I'm not a student anymore
    The standup is at 9:30 | The standup is now at 10:00
    I live in Paris | I have moved to Lyon
    I am vegetarian | I am no longer vegetarian
    I work for Bosch | I left Bosch
    I weigh 82 kg | I now weigh 78 kg
    My rent is 900 euros | My rent is now 1050 euros
    I like horror films | I hate horror films
    I go to the gym on Tuesdays | I don't go to the gym on Tuesdays anymore
    My wife is pregnant | My wife gave birth in May
    The user is looking for a job | The user found a job
    I am engaged to Marie | I married Marie last week
    I take the bus to work | I now cycle to work instead of taking the bus
    I have a subscription to the Times | I cancelled my subscription to the Times
    Our CEO is Mr Brandt | Our new CEO is Ms Okafor
    I'm reading Dune | I finished reading Dune
    My doctor is Dr Weiss | I changed doctors: it's Dr Amari now
    My car is in the garage for repair | My car is back from the garage
    I use Firefox as my browser | I use Chrome as my browser now
    My address is 12 Elm Street | My new address is 4 Oak Lane
    I have a broken leg | My leg has healed
  `,
  conflict: `
    I have 2 cats | I have 3 cats
    The review is on Monday | The review is on Tuesday
    The meeting is at 3 pm | The meeting is at 4 pm
    The museum is open on Sundays | The museum is not open on Sundays
    My rent is 900 euros | My rent is 950 euros
    Tom likes fish | Tom doesn't like fish
    The server runs Debian | The server does not run Debian
    The ticket costs 30 euros | The ticket costs 35 euros
    Anna has two children | Anna has three children
    My flight leaves at 9:30 | My flight leaves at 10:15
    The wedding is on June 4 | The wedding is on June 11
    The house was built in 1920 | The house was built in 1925
    My grandmother is 84 years old | My grandmother is 86 years old
    The API limit is 100 requests per minute | The API limit is 60 requests per minute
    The shop accepts cards | The shop doesn't accept cards
    Paul is married | Paul is not married
    My brother eats meat | My brother never eats meat
    The invoice is due in March | The invoice is due in April
    The recipe needs 200 g of flour | The recipe needs 250 g of flour
    Our team has 12 people | Our team has 14 people
    The tower is 120 m high | The tower is 140 m high
    The password has to have 8 characters | The password has to have 12 characters
    Maria can swim | Maria can't swim
    The course starts on Tuesday | The course starts on Thursday
    The build takes 5 minutes | The build takes 20 minutes
    My dog weighs 12 kg | My dog weighs 15 kg
    Ben was born in 1990 | Ben was born in 1991
    The parking is free | The parking is not free
    The train to Bonn leaves from platform 3 | The train to Bonn leaves from platform 5
    Lena's birthday is on July 2 | Lena's birthday is on July 12
    The contract runs for 2 years | The contract runs for 3 years
    My sister lives in Madrid | My sister does not live in Madrid
    The office has a kitchen | The office has no kitchen
    The door code is 4711 | The door code is 8820
    Lisbon is the capital of Portugal | Lisbon is not the capital of Portugal
    The concert is in the evening | The concert is in the afternoon
  `,
  unrelated: `
    I live in Berlin | I live in Germany
    I live in Germany | I live in Munich
    I live in Texas | I live in Austin
    I live in Kreuzberg | I live in Berlin
    I live in Berlin | I live near the river
    I live in Berlin | My brother lives in Hamburg
    I live in Berlin | I lived in Hamburg as a child
    I live in Berlin | I would like to live in Lisbon
    I like tea | I like coffee
    I like cats | I like dogs
    I love Italian food | I love Indian food
    I don't like olives | I don't like capers
    I like tea | I don't like coffee
    I like green tea | I don't like black tea
    I have 2 cats | I have 3 dogs
    I have 2 brothers | I have 3 sisters
    Fact number 12 is about whales | Fact number 13 is about whales
    Fact number 12: the sky is blue | Fact number 31: the sky is blue
    Room 12 has a projector | Room 14 has a projector
    Chapter 3 is finished | Chapter 4 is finished
    I ran 5 km on Monday | I ran 8 km on Thursday
    I ran 5 km | I ran 10 km
    I met Anna on Monday | I met Anna on Friday
    I bought 2 books | I bought 3 books
    I have a meeting on Monday | I have a meeting on Tuesday
    I go swimming on Mondays | I go swimming on Thursdays
    I take 10 mg of Ramipril in the morning | I take 5 mg of Ramipril in the evening
    Alice manages Bob | Bob manages Alice
    Anna is older than Tom | Tom is older than Ben
    My sister's name is Anna | My mother's name is Ingrid
    My dog is called Rex | My cat is called Tom
    I have a dog named Rex | I have a dog named Bello
    I speak Spanish | I speak German
    I work at Google | I work at night
    I work at Siemens | I used to work at Bosch
    I work at Siemens | My wife works at Bosch
    I work as a nurse | I work as hard as I can
    My favourite colour is blue | My favourite food is pizza
    My favourite editor is vim | My favourite editor theme is gruvbox
    My favourite colour is blue | My sister's favourite colour is red
    My work email is ada@work.example | My private email is ada@home.example
    My work phone is 555 111 222 | My home phone is 555 333 444
    I am allergic to nuts | I am allergic to pollen
    I am allergic to nuts | I am not allergic to milk
    I can play the piano | I can't play the violin
    My brother is not coming to dinner | My sister is coming to dinner
    The kitchen is red | The bathroom is blue
    The review is on Monday | The launch is on Tuesday
    The flight to Rome is at 9:30 | The flight from Rome is at 18:00
    My left knee hurts | My right knee hurts
    My older brother is a pilot | My younger brother is a pilot
    I drink coffee in the morning | I drink tea in the evening
    I drink red wine | I drink white wine
    I paid 30 euros for the shoes | I paid 40 euros for the jacket
    I was in Rome in 2015 | I was in Rome in 2019
    The alpha server has 16 GB of memory | The beta server has 32 GB of memory
    We use PostgreSQL for orders | We use Redis for sessions
    I use Python at work | I use Rust at home
    The user asked about flights to Oslo | The user asked about hotels in Oslo
    I read Dune | I watched Dune
    I don't want children right now | I don't want a dog right now
    I finished the report for March | I finished the report for April
    Tom told me that he likes Anna | Anna told me that she likes Tom
    My meeting with Carla is at 10 | My meeting with Peter is at 11
    I went to Spain with my sister | I went to Spain with my mother
    I take the bus to work | I take the train to my parents
    My son is 7 years old | My daughter is 9 years old
    My wife doesn't eat fish | I eat fish
    I like working from home | I don't like working on weekends
    I sold my car to Peter | I bought my car from Peter
    Dinner is at 7 on weekdays | Dinner is at 8 on weekends
    I have an exam on June 3 | I have an exam on June 10
    Version 2.1 fixed the login bug | Version 2.3 fixed the login bug
    Ticket 4512 is closed | Ticket 4519 is closed
    I am learning Spanish | I am learning to dance
    I am tired today | I am hungry today
    My car is red | My car is fast
    My sister lives in Madrid | My sister works in Madrid
    I was born in Hamburg | I live in Munich
    I am from Hamburg | I live in Munich
    My parents live in Graz | My parents lived in Linz until 1990
    I saw Anna before I met Tom | I met Tom before I saw Anna
    The blue box goes on top of the red box | The red box goes on top of the blue box
    I moved the files from A to B | I moved the files from B to A
    Send the report to Anna and a copy to Tom | Send the report to Tom and a copy to Anna
    I want to work at Google | I work at Siemens
    My first child was born in 2010 | My second child was born in 2013
    I like the book more than the film | I like the film
    The user plans to visit Japan | The user plans to visit Korea
    I don't drink milk | I drink oat milk
    I never fly in winter | I fly in summer
    Milk is in the fridge | Butter is in the fridge
    My username on GitHub is ada1 | My username on GitLab is ada2
    My landlord is Mr Klein | My neighbour is Mr Gross
    I have no siblings | I have no pets
    My bank is in Main Street | My dentist is in Main Street
    I work in Berlin | I live in Potsdam
    The 3 pm call is with Anna | The 4 pm call is with Anna
    I booked a table for 4 people on Friday | I booked a table for 6 people on Saturday
    The tests pass on Linux | The tests don't pass on Windows
    I can meet on Monday | I can't meet on Wednesday
  `,
} as const
