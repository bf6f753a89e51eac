package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// Release orders the products by what they can do: a feature that came with
// one release is in every later one.
type Release int

// The releases that an instance can play. Azure SQL Database and Managed
// Instance get every feature, so they come last.
const (
	Release2016SP1 Release = iota + 1
	Release2016SP2
	Release2016SP3
	Release2017
	Release2019
	Release2022
	Release2025
	ReleaseAzure
)

// product is what a release says about itself. Build, level and dates are those
// of the update that is played (MS docs: Determine the version, edition, and
// update level of SQL Server; Latest updates for Microsoft SQL Server).
type product struct {
	name    string
	release Release
	year    string
	// build is SERVERPROPERTY('ProductVersion').
	build string
	// level, update and kb are ProductLevel, ProductUpdateLevel and
	// ProductUpdateReference.
	level, update, kb string
	// built is when the build was made, as @@VERSION shows it.
	built string
	// engineEdition is SERVERPROPERTY('EngineEdition') when the product decides
	// it, 0 when the edition does.
	engineEdition int64
	// compatibility is the level of new databases, internal their
	// DATABASEPROPERTYEX Version.
	compatibility int
	internal      int64
}

const (
	engineEditionStandard        = 2
	engineEditionEnterprise      = 3
	engineEditionExpress         = 4
	engineEditionAzure           = 5
	engineEditionManagedInstance = 8
)

var products = []product{
	{name: "2016SP1", release: Release2016SP1, year: "2016", build: "13.0.4001.0", level: "SP1", kb: "KB3182545", built: "Oct 28 2016 18:17:30", compatibility: 130, internal: 852},
	{name: "2016SP2", release: Release2016SP2, year: "2016", build: "13.0.5026.0", level: "SP2", kb: "KB4052908", built: "Mar 18 2018 09:11:49", compatibility: 130, internal: 852},
	{name: "2016SP3", release: Release2016SP3, year: "2016", build: "13.0.6300.2", level: "SP3", kb: "KB5003279", built: "Aug  7 2021 01:20:37", compatibility: 130, internal: 852},
	{name: "2017", release: Release2017, year: "2017", build: "14.0.3456.2", level: "RTM", update: "CU31", kb: "KB5016884", built: "Sep  2 2022 11:01:50", compatibility: 140, internal: 869},
	{name: "2019", release: Release2019, year: "2019", build: "15.0.4375.4", level: "RTM", update: "CU27", kb: "KB5037331", built: "Jun 10 2024 18:00:07", compatibility: 150, internal: 904},
	{name: "2022", release: Release2022, year: "2022", build: "16.0.4165.4", level: "RTM", update: "CU16", kb: "KB5048033", built: "Nov  6 2024 19:24:49", compatibility: 160, internal: 957},
	{name: "2025", release: Release2025, year: "2025", build: "17.0.1000.7", level: "RTM", built: "Oct 21 2025 12:05:57", compatibility: 170, internal: 998},
	{name: "AzureSQLDatabase", release: ReleaseAzure, build: "12.0.2000.8", level: "RTM", built: "Oct  2 2025 05:00:09", engineEdition: engineEditionAzure, compatibility: 170, internal: 998},
	{name: "ManagedInstance", release: ReleaseAzure, build: "12.0.2000.8", level: "RTM", built: "Oct  2 2025 05:00:09", engineEdition: engineEditionManagedInstance, compatibility: 170, internal: 998},
}

const (
	defaultVersion = "2022"
	defaultEdition = "Developer"
)

// Versions lists what Options.Version accepts, oldest first.
func Versions() []string {
	names := make([]string, len(products))
	for i := range products {
		names[i] = products[i].name
	}
	return names
}

// Editions lists what Options.Edition accepts.
func Editions() []string { return []string{"Developer", "Enterprise", "Standard", "Express", "Web"} }

func lookupProduct(version string) (product, error) {
	if version == "" {
		version = defaultVersion
	}
	for _, p := range products {
		if strings.EqualFold(p.name, version) {
			return p, nil
		}
	}
	return product{}, fmt.Errorf("unknown SQL Server version %q: use one of %s", version, strings.Join(Versions(), ", "))
}

func lookupEdition(edition string) (string, error) {
	if edition == "" {
		return defaultEdition, nil
	}
	for _, e := range Editions() {
		if strings.EqualFold(e, edition) {
			return e, nil
		}
	}
	return "", fmt.Errorf("unknown edition %q: use one of %s", edition, strings.Join(Editions(), ", "))
}

// ProductBuild is the product version that Options.Version plays, as
// "16.0.4165.4" for "2022".
func ProductBuild(version string) (string, error) {
	p, err := lookupProduct(version)
	return p.build, err
}

// Release is what the instance can do.
func (in *Instance) Release() Release { return in.product.release }

// AtLeast reports whether the instance has the features of a release.
func (in *Instance) AtLeast(r Release) bool { return in.product.release >= r }

// Version is the product version, as in SERVERPROPERTY('ProductVersion'):
// "16.0.4165.4".
func (in *Instance) Version() string { return in.product.build }

// MajorVersion is the first part of the product version. Azure SQL Database
// and Managed Instance call themselves 12 for ever: ask Release or AtLeast for
// features.
func (in *Instance) MajorVersion() int {
	first, _, _ := strings.Cut(in.product.build, ".")
	n, _ := strconv.Atoi(first)
	return n
}

// Edition is "Developer", "Enterprise", "Standard", "Express" or "Web".
func (in *Instance) Edition() string { return in.edition }

// EngineEdition is SERVERPROPERTY('EngineEdition'): 2 Standard and Web,
// 3 Enterprise and Developer, 4 Express, 5 Azure SQL Database, 8 Managed
// Instance (MS docs: SERVERPROPERTY).
func (in *Instance) EngineEdition() int64 {
	if in.product.engineEdition != 0 {
		return in.product.engineEdition
	}
	switch in.edition {
	case "Standard", "Web":
		return engineEditionStandard
	case "Express":
		return engineEditionExpress
	default:
		return engineEditionEnterprise
	}
}

// IsAzure reports Azure SQL Database: no Agent, no other databases in reach.
func (in *Instance) IsAzure() bool { return in.product.engineEdition == engineEditionAzure }

// IsManagedInstance reports Azure SQL Managed Instance.
func (in *Instance) IsManagedInstance() bool {
	return in.product.engineEdition == engineEditionManagedInstance
}

// HasAgent reports whether there is a SQL Server Agent: not in Azure SQL
// Database and not in Express (MS docs: Editions and supported features).
func (in *Instance) HasAgent() bool { return !in.IsAzure() && in.edition != "Express" }

// editionName is SERVERPROPERTY('Edition').
func (in *Instance) editionName() string {
	switch {
	case in.product.engineEdition != 0:
		return "SQL Azure"
	case in.edition == "Developer" && in.AtLeast(Release2025):
		// The free edition is two since 2025 (MS docs: What's new in SQL Server 2025).
		return "Enterprise Developer Edition (64-bit)"
	default:
		return in.edition + " Edition (64-bit)"
	}
}

// editionID is SERVERPROPERTY('EditionID').
func (in *Instance) editionID() int64 {
	if in.product.engineEdition != 0 {
		return 1674378470
	}
	return map[string]int64{
		"Enterprise": 1804890536, "Standard": -1534726760, "Developer": -2117995310, "Express": -1592396055, "Web": 1293598313,
	}[in.edition]
}

// versionText is @@VERSION: the lines of the real one, whose first is what
// clients read, but for the line of the maker's rights.
func (in *Instance) versionText() string {
	const simulator = " \n\tSimulator, not a product of Microsoft\n"
	p := in.product
	if p.engineEdition != 0 {
		return "Microsoft SQL Azure (RTM) - " + p.build + " \n\t" + p.built + simulator
	}
	level := p.level
	if p.update != "" {
		level += "-" + p.update
	}
	text := "Microsoft SQL Server " + p.year + " (" + level + ")"
	if p.kb != "" {
		text += " (" + p.kb + ")"
	}
	system := "Linux (Ubuntu 22.04.5 LTS) <X64>"
	if p.release < Release2017 {
		system = "Windows Server 2016 Datacenter 6.3 <X64> (Build 14393: )" // there is no 2016 for Linux
	}
	return text + " - " + p.build + " (X64) \n\t" + p.built + simulator + "\t" + in.editionName() + " on " + system
}

// packedVersion is @@MICROSOFTVERSION: the major version in the highest byte,
// the build in the lower two.
func (in *Instance) packedVersion() int64 {
	build, _ := strconv.ParseInt(strings.Split(in.product.build, ".")[2], 10, 64)
	return int64(in.MajorVersion())<<24 | build
}
