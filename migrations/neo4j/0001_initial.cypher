// What a copy of a store needs on Neo4j: keys, look-ups, words by language, vectors by size.
// Uniqueness stands for the keys of the record that a statement looks up; existence and node keys are not in Community and the
// writer sees to them. Labels and properties are the tables and columns of the record (src/graphroute/stores/schema.py);
// `lookup` is a text or, where it is long, its hash, and `fact` the hash of a fact (src/graphroute/stores/neo4j/facts.py).

CREATE CONSTRAINT graphroute_store IF NOT EXISTS FOR (n:GraphrouteStore) REQUIRE n.one IS UNIQUE;
CREATE CONSTRAINT graphroute_entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphroute_scope_id IF NOT EXISTS FOR (n:Scope) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphroute_snapshot_sequence IF NOT EXISTS FOR (n:Snapshot) REQUIRE n.sequence IS UNIQUE;
CREATE CONSTRAINT graphroute_source_key IF NOT EXISTS FOR (n:Source) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT graphroute_passage_key IF NOT EXISTS FOR (n:Passage) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT graphroute_assertion_key IF NOT EXISTS FOR (n:Assertion) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT graphroute_term_id IF NOT EXISTS FOR (n:Term) REQUIRE n.id IS UNIQUE;

CREATE INDEX graphroute_tombstone_hash IF NOT EXISTS FOR (n:Tombstone) ON (n.hash);
CREATE INDEX graphroute_vector_passage IF NOT EXISTS FOR (n:Vector) ON (n.passage);
CREATE INDEX graphroute_scope_digest_scope IF NOT EXISTS FOR (n:ScopeDigest) ON (n.scope);
CREATE INDEX graphroute_source_id IF NOT EXISTS FOR (n:Source) ON (n.id);
CREATE INDEX graphroute_passage_id IF NOT EXISTS FOR (n:Passage) ON (n.id);
CREATE INDEX graphroute_passage_source IF NOT EXISTS FOR (n:Passage) ON (n.source_id);
CREATE INDEX graphroute_passage_scope IF NOT EXISTS FOR (n:Passage) ON (n.scope);
CREATE INDEX graphroute_entity_record_id IF NOT EXISTS FOR (n:EntityRecord) ON (n.id);
CREATE INDEX graphroute_entity_type_entity IF NOT EXISTS FOR (n:EntityType) ON (n.entity);
CREATE INDEX graphroute_entity_type_type IF NOT EXISTS FOR (n:EntityType) ON (n.type);
CREATE INDEX graphroute_entity_scope_entity IF NOT EXISTS FOR (n:EntityScope) ON (n.entity);
CREATE INDEX graphroute_entity_source_entity IF NOT EXISTS FOR (n:EntitySource) ON (n.entity);
CREATE INDEX graphroute_name_entity IF NOT EXISTS FOR (n:Name) ON (n.entity);
CREATE INDEX graphroute_alias_lookup IF NOT EXISTS FOR (n:Alias) ON (n.lookup);
CREATE INDEX graphroute_attribute_entity IF NOT EXISTS FOR (n:Attribute) ON (n.entity);
CREATE INDEX graphroute_attribute_lookup IF NOT EXISTS FOR (n:Attribute) ON (n.lookup);
CREATE INDEX graphroute_support_assertion IF NOT EXISTS FOR (n:Support) ON (n.assertion_id);
CREATE INDEX graphroute_support_fact IF NOT EXISTS FOR (n:Support) ON (n.fact);
CREATE INDEX graphroute_support_source IF NOT EXISTS FOR (n:Support) ON (n.source);
CREATE INDEX graphroute_ended_died IF NOT EXISTS FOR (n:Ended) ON (n.died);
CREATE INDEX graphroute_ended_fact_died IF NOT EXISTS FOR (n:EndedFact) ON (n.died);

// A property takes one FULLTEXT index, so each analyser has a property of its own.
CREATE FULLTEXT INDEX graphroute_words_english IF NOT EXISTS FOR (n:Passage) ON EACH [n.words_english]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}};
CREATE FULLTEXT INDEX graphroute_words_russian IF NOT EXISTS FOR (n:Passage) ON EACH [n.words_russian]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'russian', `fulltext.eventually_consistent`: false}};
CREATE FULLTEXT INDEX graphroute_words_cjk IF NOT EXISTS FOR (n:Passage) ON EACH [n.words_cjk]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk', `fulltext.eventually_consistent`: false}};

// One for each configured size, made whenever a size is new.
CREATE VECTOR INDEX graphroute_vector_$size IF NOT EXISTS FOR (n:Passage) ON (n.vector_$size)
  OPTIONS {indexConfig: {`vector.dimensions`: $size, `vector.similarity_function`: '$similarity'}};
