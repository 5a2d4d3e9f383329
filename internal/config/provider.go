package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"barnabas/internal/config/properties"
)

// reference is ${provider:path:key} or ${provider:key} (class ConfigTransformer).
var reference = regexp.MustCompile(`\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}`)

// provider looks a value up; ok is false where there is none, and the reference
// then stays as it is.
type provider func(path, key string) (value string, ok bool, err error)

// resolveProviders replaces references to the providers that config.providers
// names. Other uses of ${...} are left alone.
func (s settings) resolveProviders(environ []string) error {
	set, ok := s["config.providers"]
	if !ok {
		return nil
	}
	providers := map[string]provider{}
	for _, name := range parseList(strings.TrimSpace(set.value)) {
		p, err := s.provider(name, environ)
		if err != nil {
			return s.at("config.providers", err)
		}
		providers[name] = p
	}
	for _, key := range s.names() {
		if strings.HasPrefix(key, "config.providers") {
			continue
		}
		value, err := expand(s[key].value, providers)
		if err != nil {
			return s.at(key, fmt.Errorf("%s: %w", key, err))
		}
		s[key] = setting{value, s[key].origin}
	}
	return nil
}

func expand(text string, providers map[string]provider) (string, error) {
	var failed error
	out := reference.ReplaceAllStringFunc(text, func(match string) string {
		m := reference.FindStringSubmatch(match)
		p, known := providers[m[1]]
		if !known {
			return match
		}
		value, ok, err := p(m[2], m[3])
		if err != nil {
			failed = err
		}
		if !ok {
			return match
		}
		return value
	})
	return out, failed
}

const providerPackage = "org.apache.kafka.common.config.provider."

// provider makes the provider of that name; without a class the name says which.
func (s settings) provider(name string, environ []string) (provider, error) {
	prefix := "config.providers." + name + "."
	allowed := parseList(strings.TrimSpace(s[prefix+"param.allowed.paths"].value))
	class := s[prefix+"class"].value
	switch {
	case class == providerPackage+"EnvVarConfigProvider" || class == "" && name == "env":
		return environmentProvider(environ, s[prefix+"param.allowlist.pattern"].value)
	case class == providerPackage+"FileConfigProvider" || class == "" && name == "file":
		return func(path, key string) (string, bool, error) { return lookupInFile(path, key, allowed) }, nil
	case class == providerPackage+"DirectoryConfigProvider" || class == "" && name == "dir":
		return func(path, key string) (string, bool, error) { return lookupInDirectory(path, key, allowed) }, nil
	}
	return nil, fmt.Errorf("config provider %s: class %q is not one of %s{Env,File,Directory}ConfigProvider", name, class, providerPackage)
}

func environmentProvider(environ []string, pattern string) (provider, error) {
	allow, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, fmt.Errorf("allowlist.pattern: %w", err)
	}
	return func(path, key string) (string, bool, error) {
		if path != "" {
			return "", false, fmt.Errorf("environment variable %s: a path is not allowed", key)
		}
		for _, pair := range environ {
			if name, value, _ := strings.Cut(pair, "="); name == key && (pattern == "" || allow.MatchString(name)) {
				return value, true, nil
			}
		}
		return "", false, nil
	}, nil
}

func lookupInFile(path, key string, allowed []string) (string, bool, error) {
	if path == "" || !within(path, allowed) {
		return "", false, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false, fmt.Errorf("config provider: %w", err)
	}
	list, err := properties.Parse(text)
	if err != nil {
		return "", false, fmt.Errorf("config provider: %s: %w", path, err)
	}
	value, ok := properties.Map(list)[key]
	return value, ok, nil
}

func lookupInDirectory(path, key string, allowed []string) (string, bool, error) {
	if path == "" || key != filepath.Base(key) || !within(path, allowed) {
		return "", false, nil
	}
	text, err := os.ReadFile(filepath.Join(path, key))
	if os.IsNotExist(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("config provider: %w", err)
	}
	return string(text), true, nil
}

// within says whether path lies in one of the folders; no folders allow all.
func within(path string, folders []string) bool {
	for _, folder := range folders {
		rel, err := filepath.Rel(filepath.Clean(folder), filepath.Clean(path))
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return len(folders) == 0
}
